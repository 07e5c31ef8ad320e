#include "core/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/invalid.h"

namespace penstock {
namespace {

bool plausible(Nanoseconds t) {
  return t.value >= 0 && t <= kLongestTime;
}

Result<void> check_stage(const Plan& plan, std::size_t s) {
  const PlanStage& stage = plan.stages[s];
  const std::string at = fmt::format("/stages/{}", s);
  if (stage.split == Split::Batch && stage.replicas > plan.microbatch_size)
    return invalid(at + "/replicas",
                   fmt::format("{} replicas of stage {} cannot share microbatches of {} samples",
                               stage.replicas, s, plan.microbatch_size),
                   "a larger microbatch, fewer replicas, or the split round_robin");
  if (stage.split == Split::RoundRobin && stage.replicas > plan.microbatches)
    return invalid(at + "/replicas",
                   fmt::format("{} replicas of stage {} cannot take turns at {} microbatches",
                               stage.replicas, s, plan.microbatches),
                   "smaller microbatches, fewer replicas, or the split batch");
  if (!plausible(stage.reduce_latency) || !(stage.reduce_bandwidth.value >= 0) ||
      !std::isfinite(stage.reduce_bandwidth.value) ||
      (stage.replicas > 1) != (stage.reduce_bandwidth.value > 0) ||
      (stage.replicas == 1 && stage.reduce_latency.value != 0))
    return invalid(at + "/reduce_bandwidth_bytes_per_s",
                   fmt::format("the replicas of stage {} add gradients at {} B/s", s,
                               stage.reduce_bandwidth.value),
                   "above 0 with replicas, 0 without; latencies from 0 to 26 days");
  if (stage.replicas == 1) return {};
  const std::int64_t samples = largest_part(plan, stage);
  const std::vector<StageTimes>* times = layer_times_at(plan, samples);
  if (times != nullptr &&
      times->size() == plan.workload.networks[stage.network.index()].layers.size())
    return {};
  return invalid(
      "/part_times",
      fmt::format("there are no layer times of {} samples, which replicas of stage {} take",
                  samples, s),
      "list one row a layer for the largest part of each replicated stage");
}

Result<void> check_hops(const Plan& plan, std::size_t e) {
  const PlanEdge& edge = plan.edges[e];
  const std::string at = fmt::format("/edges/{}/hops", e);
  std::vector<Meeting> pairs;
  if (plan.stages[edge.from.index()].replicas > 1 || plan.stages[edge.to.index()].replicas > 1)
    pairs = meetings(plan, edge.from, edge.to);
  bool same = pairs.size() == edge.hops.size();
  for (std::size_t i = 0; same && i < pairs.size(); ++i)
    same = pairs[i].from == edge.hops[i].from && pairs[i].to == edge.hops[i].to;
  if (!same)
    return invalid(at, fmt::format("edge {} lists {} hops; {} pairs of copies meet", e,
                                   edge.hops.size(), pairs.size()),
                   "one for each pair of copies that share samples, by (from, to); none between "
                   "single copies");
  for (const ReplicaHop& hop : edge.hops)
    if (!plausible(hop.latency) || !plausible(hop.back_latency) || !(hop.bandwidth.value > 0) ||
        !(hop.back_bandwidth.value > 0) || !std::isfinite(hop.bandwidth.value) ||
        !std::isfinite(hop.back_bandwidth.value))
      return invalid(at, fmt::format("the hop from copy {} to copy {} has no usable figures",
                                     hop.from, hop.to),
                     "latencies are from 0 to 26 days, bandwidths above 0");
  return {};
}

}  // namespace

SampleRange replica_samples(std::int64_t samples, std::int32_t replicas, std::int32_t copy) {
  const std::int64_t each = samples / replicas, more = samples % replicas;
  return {copy * each + std::min<std::int64_t>(copy, more), each + (copy < more ? 1 : 0)};
}

SampleRange samples_of(const Plan& plan, StageId stage, std::int32_t copy) {
  const PlanStage& row = plan.stages[stage.index()];
  if (row.split != Split::Batch) return {0, plan.microbatch_size};
  return replica_samples(plan.microbatch_size, row.replicas, copy);
}

bool is_replicated(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const PlanStage& stage) { return stage.replicas > 1; });
}

std::int64_t loss_parts(const PlanStage& stage) {
  return stage.split == Split::Batch ? stage.replicas : 1;
}

std::int64_t loss_parts(const Plan& plan) {
  std::int64_t parts = 1;
  for (const PlanStage& stage : plan.stages) {
    const Network& network = plan.workload.networks[stage.network.index()];
    for (const LayerId layer : stage.layers)
      if (network.layers[layer.index()].is_loss()) parts = std::max(parts, loss_parts(stage));
  }
  return parts;
}

const std::vector<StageTimes>* layer_times_at(const Plan& plan, std::int64_t samples) {
  if (samples == plan.microbatch_size) return &plan.layer_times;
  for (const PartTimes& part : plan.part_times)
    if (part.samples == samples) return &part.layers;
  return nullptr;
}

std::vector<Meeting> meetings(const Plan& plan, StageId from, StageId to) {
  const PlanStage &a = plan.stages[from.index()], &b = plan.stages[to.index()];
  // Copies that take every n-th microbatch meet where their residues do, modulo what both counts
  // divide: microbatch 5 is of copy 1 of 2 and copy 2 of 3.
  const std::int32_t common = a.split == Split::RoundRobin && b.split == Split::RoundRobin
                                  ? std::gcd(a.replicas, b.replicas)
                                  : 1;
  std::vector<Meeting> out;
  for (std::int32_t i = 0; i < a.replicas; ++i) {
    const SampleRange mine = samples_of(plan, from, i);
    for (std::int32_t j = 0; j < b.replicas; ++j) {
      if (i % common != j % common) continue;
      const SampleRange theirs = samples_of(plan, to, j);
      const std::int64_t first = std::max(mine.first, theirs.first),
                         end = std::min(mine.end(), theirs.end());
      if (first >= end) continue;
      out.push_back({i, j, {first, end - first}, mine == theirs});
    }
  }
  return out;
}

Result<void> validate_replicas(const Plan& plan) {
  const Network& network = plan.workload.networks[plan.stages.front().network.index()];
  std::int64_t more = plan.microbatch_size;
  for (std::size_t p = 0; p < plan.part_times.size(); ++p) {
    const PartTimes& part = plan.part_times[p];
    const std::string at = fmt::format("/part_times/{}", p);
    if (part.samples < 1 || part.samples >= more)
      return invalid(at + "/samples",
                     fmt::format("times of {} samples stand after those of {}", part.samples, more),
                     "list each part of a microbatch once, descending");
    if (part.layers.size() != network.layers.size())
      return invalid(at + "/layers",
                     fmt::format("there are times of {} layers, and network '{}' has {}",
                                 part.layers.size(), network.name, network.layers.size()),
                     "list one row a layer");
    more = part.samples;
  }
  for (const PartTimes& part : plan.part_times)
    for (const StageTimes& t : part.layers)
      for (const Nanoseconds x :
           {t.load, t.forward, t.loss, t.backward_input, t.backward_weight, t.recompute, t.step})
        if (!plausible(x))
          return invalid("/part_times", fmt::format("a layer takes {} ns", x.value),
                         "times are from 0 to 26 days");
  if (!plausible(plan.gather_latency) || !std::isfinite(plan.gather_bandwidth.value) ||
      (plan.workload.optimizer.clip != 0 && plan.ranks() > 1) != (plan.gather_bandwidth.value > 0) ||
      (plan.gather_bandwidth.value == 0 && plan.gather_latency.value != 0))
    return invalid("/gather_bandwidth_bytes_per_s",
                   fmt::format("norms are gathered at {} B/s", plan.gather_bandwidth.value),
                   "above 0 where the optimizer clips over several ranks, else 0");
  if (plan.bucket_limits.first.value < 0 || plan.bucket_limits.rest.value < 0)
    return invalid("/bucket_limits", "a limit is negative", "sizes are 0 or more");
  for (std::size_t s = 0; s < plan.stages.size(); ++s) PENSTOCK_TRY_VOID(check_stage(plan, s));
  for (std::size_t e = 0; e < plan.edges.size(); ++e) PENSTOCK_TRY_VOID(check_hops(plan, e));
  return {};
}

}  // namespace penstock
