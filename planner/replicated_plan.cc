#include <fmt/format.h>

#include <algorithm>

#include "core/replicas.h"
#include "core/stage_layout.h"
#include "planner/candidate.h"
#include "planner/contention.h"
#include "planner/gather_norms.h"
#include "planner/replicated_search.h"

namespace penstock {
namespace {

// Of the ring over a stage's replicas, the hop over which all its gradients take longest.
Result<Hop> slowest_hop(const Plan& plan, const CostTable& costs, const PlanStage& stage) {
  Hop slowest;
  for (std::size_t r = 0; r < stage.devices.size(); ++r) {
    const RankId next = stage.devices[(r + 1) % stage.devices.size()];
    PENSTOCK_TRY(const Hop hop, costs.hop(plan.cluster, plan.devices[stage.devices[r].index()].device,
                                          plan.devices[next.index()].device));
    if (r == 0 || hop.time(stage.memory.parameters) > slowest.time(stage.memory.parameters))
      slowest = hop;
  }
  return slowest;
}

}  // namespace

const CostTable* ReplicaCosts::of(std::int32_t replicas, Split split) const {
  const auto found =
      parts.find(split == Split::Batch ? largest_part(microbatch, replicas) : microbatch);
  return found == parts.end() ? nullptr : &found->second;
}

Result<Plan> replicated_plan(const PlanRequest& request, const ReplicaCosts& costs,
                             const ChosenSchedule& schedule, const std::vector<std::int32_t>& ends,
                             const std::vector<std::int32_t>& replicas, Split split) {
  const std::vector<std::vector<LayerId>> layers = stages_of(ends);
  const CostTable& whole = costs.parts.at(costs.microbatch);
  const Network& network = request.workload.networks.front();
  Plan plan;
  plan.workload = request.workload;
  plan.cluster = request.cluster;
  plan.strategy = "auto";
  plan.schedule = {std::string(schedule.schedule->name), schedule.parameters};
  plan.microbatch_size = costs.microbatch;
  plan.microbatches = request.workload.global_batch / costs.microbatch;
  plan.costs = whole.source;
  plan.profile_machine = whole.machine;
  const auto times_of = [&](const CostTable& table) {
    std::vector<StageTimes> times;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
      times.push_back(stage_times(table, {LayerId(static_cast<std::int64_t>(l))}));
    return times;
  };
  plan.layer_times = times_of(whole);
  for (auto part = costs.parts.rbegin(); part != costs.parts.rend(); ++part)
    if (part->first != costs.microbatch)
      plan.part_times.push_back({part->first, times_of(part->second)});

  for (std::size_t s = 0; s < layers.size(); ++s) {
    PlanStage& stage = plan.stages.emplace_back();
    stage.layers = layers[s];
    stage.replicas = replicas[s];
    if (replicas[s] > 1) stage.split = split;
    for (std::int32_t r = 0; r < replicas[s]; ++r) {
      const RankId rank(static_cast<std::int64_t>(plan.devices.size()));
      const Bytes memory = plan.cluster.devices[rank.index()].memory;
      stage.devices.push_back(rank);
      plan.devices.push_back(
          {.rank = rank,
           .device = DeviceId(rank.value),
           .peak_memory_bytes = Bytes(0),
           .memory_limit_bytes = request.memory_limit.value > 0
                                     ? std::min(request.memory_limit, memory)
                                     : memory});
    }
  }
  plan.edges = crossing_edges(network, layers, plan.microbatch_size);
  for (PlanEdge& edge : plan.edges) {
    const PlanStage &from = plan.stages[edge.from.index()], &to = plan.stages[edge.to.index()];
    for (const Meeting& pair : meetings(plan, edge.from, edge.to)) {
      const DeviceId a(from.devices[static_cast<std::size_t>(pair.from)].value),
          b(to.devices[static_cast<std::size_t>(pair.to)].value);
      PENSTOCK_TRY(const Hop there, whole.hop(plan.cluster, a, b));
      PENSTOCK_TRY(const Hop back, whole.hop(plan.cluster, b, a));
      const Bytes bytes = tensor_offsets(network, edge.tensors, pair.samples.count).back();
      edge.activation = std::max(edge.activation, there.time(bytes));
      edge.gradient = std::max(edge.gradient, back.time(bytes));
      if (from.replicas == 1 && to.replicas == 1) continue;
      edge.hops.push_back(
          {pair.from, pair.to, there.latency, back.latency, there.bandwidth, back.bandwidth});
    }
  }
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    PlanStage& stage = plan.stages[s];
    const CostTable* table = costs.of(stage.replicas, stage.split);
    PENSTOCK_CHECK(table != nullptr, "replicas of a plan have costs");
    fill_stage(plan, s, *table);
    if (stage.replicas == 1) continue;
    PENSTOCK_TRY(const Hop ring, slowest_hop(plan, whole, stage));
    stage.reduce_latency = ring.latency;
    stage.reduce_bandwidth = ring.bandwidth;
  }
  PENSTOCK_TRY_VOID(add_gather_hop(plan, whole));
  carry_contention(plan, whole);
  return plan;
}

}  // namespace penstock
