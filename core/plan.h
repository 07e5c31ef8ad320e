#pragma once

// How a workload runs on a cluster: which rank holds which layers, in what schedule, with what predicted times and memory,
// and why nothing better is to be had. A plan is self-contained: it carries its workload and its cluster, so that every
// later verb needs the plan alone. File form: penstock.plan/1 (docs/formats/plan.md).

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buckets.h"
#include "core/cluster.h"
#include "core/contention.h"
#include "core/ids.h"
#include "core/result.h"
#include "core/units.h"
#include "core/workload.h"

namespace penstock {

// How the replicas of a stage share a batch: each takes a part of every microbatch, or every n-th microbatch.
enum class Split : std::uint8_t { Batch, RoundRobin };
constexpr auto enum_names(Split) {
  return std::to_array<std::pair<Split, std::string_view>>(
      {{Split::Batch, "batch"}, {Split::RoundRobin, "round_robin"}});
}

// Which weights a forward and a backward read (specs of each policy: docs/staleness.md). Flush: one version a step.
enum class WeightPolicy : std::uint8_t { Flush };
constexpr auto enum_names(WeightPolicy) {
  return std::to_array<std::pair<WeightPolicy, std::string_view>>(
      {{WeightPolicy::Flush, "flush"}});
}

// Durations of one microbatch of a stage, and of its update once a step.
struct StageTimes {
  Nanoseconds load, forward, loss, backward_input, backward_weight, recompute, step;

  // As an Order counts them: fetching and loss belong to the forward.
  Nanoseconds order_forward() const { return load + forward + loss; }
  Nanoseconds backward() const { return backward_input + backward_weight; }
  StageTimes& operator+=(const StageTimes& other) {
    load += other.load;
    forward += other.forward;
    loss += other.loss;
    backward_input += other.backward_input;
    backward_weight += other.backward_weight;
    recompute += other.recompute;
    step += other.step;
    return *this;
  }
  bool operator==(const StageTimes&) const = default;
};

// Bytes of a stage on one of its ranks. Stash: what one microbatch keeps from F to its backward, received input included.
struct StageMemory {
  Bytes parameters, gradients, optimizer, stash, data, workspace;

  bool operator==(const StageMemory&) const = default;
};

struct PlanStage {
  NetworkId network{0};
  std::vector<LayerId> layers;  // ascending
  std::int32_t chunk = 0;       // among the stages of its rank
  std::vector<RankId> devices;  // ranks that hold it: replicas · tensor_parallel
  std::int32_t tensor_parallel = 1;
  std::int32_t replicas = 1;
  Split split = Split::Batch;
  std::vector<LayerId> recompute;  // layers whose activations are recomputed, not kept
  StageTimes times;    // of the largest part of a microbatch that one of its ranks takes
  StageMemory memory;  // likewise
  // Of the slowest hop of the ring over its replicas, which adds up their gradients; zero without replicas.
  Nanoseconds reduce_latency;
  BytesPerSecond reduce_bandwidth;

  bool operator==(const PlanStage&) const = default;
};

// What a message between two copies takes, α + bytes/β, and one back.
struct ReplicaHop {
  std::int32_t from = 0, to = 0;  // copies of the edge's stages
  Nanoseconds latency, back_latency;
  BytesPerSecond bandwidth, back_bandwidth;

  bool operator==(const ReplicaHop&) const = default;
};

// Activations of `tensors` (outputs of layers of stage `from`) for stage `to`; gradients of the same size come back.
struct PlanEdge {
  StageId from;
  StageId to;
  std::vector<LayerId> tensors;  // ascending
  Bytes bytes;                   // of one microbatch; each tensor starts on a 64-byte boundary
  Nanoseconds activation, gradient;  // transfer times; between replicas, of the slowest pair
  std::vector<ReplicaHop> hops{};    // one each pair of copies that meet (core/replicas.h); none between single copies

  bool operator==(const PlanEdge&) const = default;
};

struct PlanDevice {
  RankId rank;
  DeviceId device;
  Bytes peak_memory_bytes;   // of the program's layout
  Bytes memory_limit_bytes;

  bool operator==(const PlanDevice&) const = default;
};

struct PlanSchedule {
  std::string name;  // as in planner/schedules/registry.cc
  std::map<std::string, std::string> parameters;

  bool operator==(const PlanSchedule&) const = default;
};

struct Bound {
  std::string name;  // "work", "longest layer", "fill and drain"
  double seconds = 0;

  bool operator==(const Bound&) const = default;
};

// What a plan claims of itself. penstock::verify re-derives it without the solver.
struct Certificate {
  std::string objective;       // "iteration_time"
  std::string objective_unit;  // "s"
  double objective_value = 0;
  double lower_bound_s = 0;    // no plan of the plan space is faster
  double gap = 0;              // 1 - lower_bound_s / iteration_time_s
  std::vector<Bound> bounds;   // whose maximum is lower_bound_s
  std::string plan_space;      // in words: what "no plan" ranges over
  std::string binding_constraint;
  std::optional<std::string> runner_up;

  bool operator==(const Certificate&) const = default;
};

// Layer times at a part of a microbatch, where replicas share one.
struct PartTimes {
  std::int64_t samples = 0;
  std::vector<StageTimes> layers;

  bool operator==(const PartTimes&) const = default;
};

struct Plan {
  Workload workload;
  Cluster cluster;
  std::string strategy;
  PlanSchedule schedule;
  WeightPolicy weight_policy = WeightPolicy::Flush;
  std::int64_t microbatch_size = 1;  // samples
  std::int64_t microbatches = 1;     // a step
  std::vector<PlanStage> stages;     // in order of their first layer
  std::vector<PlanEdge> edges;       // by (from, to)
  std::vector<PlanDevice> devices;   // by rank
  std::string costs;                 // "derived" or "profiled"
  std::string profile_machine;       // of the profile the times come from; empty where derived
  std::vector<StageTimes> layer_times;  // one a layer of the planned network: stage times are their sums, bounds need them
  std::vector<PartTimes> part_times;    // likewise at fewer samples than a microbatch: descending
  // Of the slowest hop around all ranks, over which norms of gradients are gathered; zero where nothing is clipped.
  Nanoseconds gather_latency;
  BytesPerSecond gather_bandwidth;
  BucketLimits bucket_limits;           // of the gradients that replicas add up (core/buckets.h)
  // How its ranks slow one another down; none: not at all. Times above are of each rank alone.
  std::optional<Contention> contention;
  double iteration_time_s = 0;
  double throughput_samples_per_s = 0;
  Certificate certificate;

  std::int32_t ranks() const { return static_cast<std::int32_t>(devices.size()); }
  bool operator==(const Plan&) const = default;
};

// Workload and cluster valid, every layer on exactly one stage, stages and ranks in range, edges exactly the tensors that
// cross and without a cycle, microbatches dividing the batch, no number negative, absurd (26 days, 2^56 bytes) or NaN. What
// a plan claims of time and memory is checked elsewhere (program_check, verify). Errors carry a JSON pointer from the plan.
Result<void> validate(const Plan& plan);

// The stage graph's edges that a division of `network` into stages implies: for each pair of stages the outputs of one
// that the other reads. Times are left zero; sources are loaded where they are used, never sent. `stages[i]` holds the
// ascending layers of stage i; layers on no stage are ignored. Sorted by (from, to).
std::vector<PlanEdge> crossing_edges(const Network& network, const std::vector<std::vector<LayerId>>& stages,
                                     std::int64_t microbatch_size);

}  // namespace penstock
