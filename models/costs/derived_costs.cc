#include <fmt/format.h>

#include <algorithm>

#include "models/costs/bytes.h"
#include "models/costs/cost_table.h"
#include "models/costs/flops.h"

namespace penstock {

Result<CostTable> derived_costs(const Workload& workload, const Device& device,
                                std::int64_t microbatch) {
  if (microbatch < 1)
    return fail(ErrorCode::Usage, fmt::format("a microbatch of {} samples", microbatch),
                "it holds one or more");
  if (workload.networks.size() != 1) {
    return fail(ErrorCode::Infeasible, fmt::format("{} has {} networks; costs are derived for one",
                                                   workload.name, workload.networks.size()));
  }
  PENSTOCK_CHECK(device.peak_f32.value > 0 && device.memory_bandwidth.value > 0,
                 "a valid cluster's devices have rates");
  const auto time = [&](Flops flops, double bytes) {
    return nanoseconds(
        std::max(flops.value / device.peak_f32.value, bytes / device.memory_bandwidth.value));
  };
  const Network& network = workload.networks[0];
  CostTable table;
  table.source = "derived";
  table.microbatch = microbatch;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (layer.kind == LayerKind::Opaque) {
      return fail(
          ErrorCode::Infeasible,
          fmt::format("layer \"{}\" is opaque: what it costs cannot be derived from its shapes",
                      layer.name),
          "give a profile that holds it: --profile FILE");
    }
    const std::vector<TensorShape> inputs =
        input_shapes(network, LayerId(static_cast<std::int64_t>(i)));
    const LayerFlops flops = layer_flops(layer, inputs, microbatch);
    const LayerTraffic bytes = layer_traffic(workload, layer, inputs, microbatch);
    LayerCost cost;
    cost.load = time(Flops(0), bytes.load);
    (layer.is_loss() ? cost.loss : cost.forward) = time(flops.forward, bytes.forward);
    cost.backward_input = time(flops.backward_input, bytes.backward_input);
    cost.backward_weight = time(flops.backward_weight, bytes.backward_weight);
    cost.step =
        time(step_flops(layer, workload.optimizer), step_traffic(layer, workload.optimizer));
    const Nanoseconds longest = std::max({cost.load, cost.forward, cost.loss, cost.backward_input,
                                          cost.backward_weight, cost.step});
    if (longest > kLongestTime)
      return fail(ErrorCode::BadInput,
                  fmt::format("on device {}, a pass of layer \"{}\" over {} samples would take {}{}",
                              device.name, layer.name, microbatch,
                              longest >= kForever ? "over " : "", long_time(seconds(longest))),
                  fmt::format("are its peak_f32 of {} and its memory_bandwidth of {} in the right "
                              "unit?",
                              text(device.peak_f32), text(device.memory_bandwidth)));
    cost.scratch = scratch_estimate(layer, inputs, microbatch);
    table.layers.push_back(cost);
  }
  return table;
}

}  // namespace penstock
