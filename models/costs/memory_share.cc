#include "models/costs/memory_share.h"

#include <algorithm>
#include <cmath>

#include "models/costs/bytes.h"

namespace penstock {

MemoryShares memory_shares(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch,
                           const StageTimes& times, const Contention& contention) {
  const double bandwidth = contention.memory_bandwidth.value;
  if (layer.kind == LayerKind::Opaque || !(bandwidth > 0)) return {};
  const auto cache = static_cast<double>(contention.private_cache.value);
  const auto of = [&](double bytes, Nanoseconds time) {
    if (bytes <= cache || time.value <= 0) return 0.0;
    const double share = bytes / (seconds(time) * bandwidth);
    return std::round(std::min(1.0, share) * 1000) / 1000;
  };
  const LayerTraffic bytes = layer_traffic(workload, layer, input_shapes, microbatch);
  return {.load = of(bytes.load, times.load),
          .forward = of(bytes.forward, layer.is_loss() ? times.loss : times.forward),
          .backward_input = of(bytes.backward_input, times.backward_input),
          .backward_weight = of(bytes.backward_weight, times.backward_weight),
          .step = of(step_traffic(layer, workload.optimizer), times.step)};
}

}  // namespace penstock
