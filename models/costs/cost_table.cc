#include "models/costs/cost_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock {

Result<Hop> CostTable::hop(const Cluster& cluster, DeviceId from, DeviceId to) const {
  if (from == to) return Hop{};
  const std::optional<Path> path = route(cluster, from, to);
  if (!path) {
    return fail(ErrorCode::Infeasible,
                fmt::format("no link leads from {} to {}", cluster.devices[from.index()].name,
                            cluster.devices[to.index()].name));
  }
  const bool hand_off =
      path->links.size() == 1 && cluster.links[path->links[0].index()].name == link;
  if (link_profiled && hand_off) return Hop{link_latency, link_bandwidth};
  return Hop{path->latency, path->bandwidth};
}

Result<Nanoseconds> CostTable::transfer(const Cluster& cluster, DeviceId from, DeviceId to,
                                        Bytes bytes) const {
  if (from == to) return Nanoseconds(0);
  PENSTOCK_TRY(const Hop along, hop(cluster, from, to));
  return transfer_time(along.latency, along.bandwidth, bytes);
}

void recompute(CostTable& costs, const Network& network, const std::vector<LayerKind>& kinds) {
  for (std::size_t l = 0; l < costs.layers.size(); ++l) {
    const Layer& layer = network.layers[l];
    costs.layers[l].recomputed =
        !layer.is_loss() && std::find(kinds.begin(), kinds.end(), layer.kind) != kinds.end();
  }
}

StageTimes stage_times(const CostTable& costs, const std::vector<LayerId>& layers) {
  StageTimes times;
  for (const LayerId layer : layers) {
    const LayerCost& cost = costs.layers[layer.index()];
    times.load += cost.load;
    times.forward += cost.forward;
    times.loss += cost.loss;
    times.backward_input += cost.backward_input;
    times.backward_weight += cost.backward_weight;
    if (cost.recomputed) times.recompute += cost.forward;
    times.step += cost.step;
  }
  return times;
}

StageMemory stage_memory(const CostTable& costs, const StageLayout& layout,
                         const Workload& workload) {
  Bytes scratch;
  for (const LayerPlacement& placed : layout.layers)
    scratch = std::max(scratch, costs.layers[placed.layer.index()].scratch);
  StageMemory memory;
  memory.parameters = layout.parameters;
  memory.gradients = layout.parameters;
  memory.optimizer = workload.optimizer.states() * layout.parameters;
  memory.stash = layout.stash;
  memory.data = layout.data_bytes;
  memory.workspace =
      align_up(layout.workspace, kTensorAlignment) + align_up(scratch, kTensorAlignment);
  return memory;
}

}  // namespace penstock
