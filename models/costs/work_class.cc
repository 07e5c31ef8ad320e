#include "models/costs/work_class.h"

#include "models/costs/bytes.h"
#include "models/costs/flops.h"

namespace penstock {

LayerClasses layer_classes(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch,
                           Bytes private_cache) {
  if (layer.kind == LayerKind::Opaque) return {};
  const auto cache = static_cast<double>(private_cache.value);
  const auto of = [&](Flops flops, double bytes) {
    return bytes > cache && flops.value < kComputeBound * bytes ? WorkClass::Memory
                                                                : WorkClass::Matrix;
  };
  const LayerFlops flops = layer_flops(layer, input_shapes, microbatch);
  const LayerTraffic bytes = layer_traffic(workload, layer, input_shapes, microbatch);
  return {.load = of(Flops(0), bytes.load),
          .forward = of(flops.forward, bytes.forward),
          .backward_input = of(flops.backward_input, bytes.backward_input),
          .backward_weight = of(flops.backward_weight, bytes.backward_weight),
          .step = of(step_flops(layer, workload.optimizer), step_traffic(layer, workload.optimizer))};
}

}  // namespace penstock
