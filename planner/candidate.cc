#include "planner/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/stage_layout.h"
#include "planner/contention.h"
#include "planner/gather_norms.h"
#include "planner/lower.h"

namespace penstock {

Result<Setting> make_setting(const Workload& workload, const Cluster& cluster,
                             const CostTable& costs, const ChosenSchedule& schedule,
                             std::int32_t ranks, Bytes limit) {
  Setting setting;
  setting.workload = &workload;
  setting.cluster = &cluster;
  setting.costs = &costs;
  setting.schedule = schedule.schedule;
  setting.parameters = schedule.parameters;
  setting.microbatches = workload.global_batch / costs.microbatch;
  Shape shape;
  shape.stages = ranks;
  shape.microbatches =
      static_cast<std::int32_t>(std::min<std::int64_t>(setting.microbatches, INT32_MAX));
  shape.parameters = schedule.parameters;
  PENSTOCK_TRY(Order order, emit(*schedule.schedule, shape));
  setting.problem.demands = rank_demands(order);
  setting.problem.microbatches = setting.microbatches;
  setting.problem.optimizer_states = workload.optimizer.states();
  setting.order = with_steps(std::move(order));
  if (std::any_of(costs.layers.begin(), costs.layers.end(),
                  [](const LayerCost& cost) { return cost.recomputed; }))
    setting.order = with_recompute(std::move(setting.order),
                                   std::vector<bool>(static_cast<std::size_t>(ranks), true));
  for (std::int32_t r = 0; r < ranks; ++r) {
    const Bytes memory = cluster.devices[static_cast<std::size_t>(r)].memory;
    setting.devices.push_back(DeviceId(r));
    setting.problem.limits.push_back(limit.value > 0 ? std::min(limit, memory) : memory);
  }
  setting.problem.from_previous.resize(static_cast<std::size_t>(ranks));
  setting.problem.from_next.resize(static_cast<std::size_t>(ranks));
  for (std::size_t r = 1; r < setting.devices.size(); ++r) {
    PENSTOCK_TRY(setting.problem.from_previous[r],
                 costs.hop(cluster, setting.devices[r - 1], setting.devices[r]));
    PENSTOCK_TRY(setting.problem.from_next[r - 1],
                 costs.hop(cluster, setting.devices[r], setting.devices[r - 1]));
  }
  return setting;
}

std::vector<std::vector<LayerId>> stages_of(const std::vector<std::int32_t>& ends) {
  std::vector<std::vector<LayerId>> stages(ends.size());
  std::int32_t layer = 0;
  for (std::size_t s = 0; s < ends.size(); ++s)
    for (; layer < ends[s]; ++layer) stages[s].push_back(LayerId(layer));
  return stages;
}

Result<DividedCosts> divided_costs(const Setting& setting, const std::vector<std::int32_t>& ends) {
  const std::vector<std::vector<LayerId>> stages = stages_of(ends);
  DividedCosts divided;
  std::vector<StageTimes> times;
  for (const std::vector<LayerId>& layers : stages)
    times.push_back(stage_times(*setting.costs, layers));
  divided.edges =
      crossing_edges(setting.workload->networks.front(), stages, setting.costs->microbatch);
  for (PlanEdge& edge : divided.edges) {
    const DeviceId from = setting.devices[edge.from.index()], to = setting.devices[edge.to.index()];
    PENSTOCK_TRY(edge.activation, setting.costs->transfer(*setting.cluster, from, to, edge.bytes));
    PENSTOCK_TRY(edge.gradient, setting.costs->transfer(*setting.cluster, to, from, edge.bytes));
    divided.stage_edges.push_back({edge.from, edge.to});
  }
  divided.costs = order_costs(times, divided.edges);
  return divided;
}

void fill_stage(Plan& plan, std::size_t s, const CostTable& costs) {
  const StageId id(static_cast<std::int64_t>(s));
  PlanStage& stage = plan.stages[s];
  stage.recompute.clear();
  std::copy_if(stage.layers.begin(), stage.layers.end(), std::back_inserter(stage.recompute),
               [&](LayerId layer) { return costs.layers[layer.index()].recomputed; });
  StageLayout layout = lay_out_stage(plan, id);
  if (layout.recomputed != stage.recompute) {  // some nobody needs again: they are like any other
    stage.recompute = layout.recomputed;
    layout = lay_out_stage(plan, id);
  }
  stage.times = stage_times(costs, stage.layers);
  stage.times.recompute = stage_times(costs, stage.recompute).recompute;
  stage.memory = stage_memory(costs, layout, plan.workload);
}

Result<Plan> plan_of(const Setting& setting, const std::vector<std::int32_t>& ends) {
  PENSTOCK_TRY(DividedCosts divided, divided_costs(setting, ends));
  const std::vector<std::vector<LayerId>> stages = stages_of(ends);
  const CostTable& costs = *setting.costs;
  Plan plan;
  plan.workload = *setting.workload;
  plan.cluster = *setting.cluster;
  plan.strategy = "auto";
  plan.schedule = {std::string(setting.schedule->name), setting.parameters};
  plan.microbatch_size = costs.microbatch;
  plan.microbatches = setting.microbatches;
  plan.edges = std::move(divided.edges);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const RankId rank(static_cast<std::int64_t>(s));
    PlanStage& stage = plan.stages.emplace_back();
    stage.layers = stages[s];
    stage.devices = {rank};
    plan.devices.push_back({.rank = rank,
                            .device = setting.devices[s],
                            .peak_memory_bytes = Bytes(0),
                            .memory_limit_bytes = setting.problem.limits[s]});
  }
  for (std::size_t s = 0; s < stages.size(); ++s) fill_stage(plan, s, costs);
  plan.costs = costs.source;
  plan.profile_machine = costs.machine;
  for (std::size_t l = 0; l < costs.layers.size(); ++l)
    plan.layer_times.push_back(stage_times(costs, {LayerId(static_cast<std::int64_t>(l))}));
  PENSTOCK_TRY_VOID(add_gather_hop(plan, costs));
  carry_contention(plan, costs);
  return plan;
}

}  // namespace penstock
