#include "models/workloads/precision.h"

namespace penstock {

void set_precision(Workload& workload, Precision activations) {
  for (Network& network : workload.networks)
    for (Layer& layer : network.layers)
      if (!layer.is_loss())
        layer.output.type = activations == Precision::BF16 ? DataType::BF16 : DataType::F32;
}

}  // namespace penstock
