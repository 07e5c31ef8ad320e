#pragma once

// How the replicas of a stage share its microbatches (Plan's Split). A replica is a copy of the stage on a rank of its own;
// copies are numbered in the order of PlanStage::devices.
//
//   batch         every copy takes a part of every microbatch: samples [o_r, o_r + b_r), as even as whole samples allow,
//                 the first copies one more. 5 samples on 2 copies: [0, 3) and [3, 5).
//   round_robin   copy r takes the whole of microbatches r, r + R, r + 2R, …

#include <cstdint>
#include <vector>

#include "core/plan.h"

namespace penstock {

struct SampleRange {
  std::int64_t first = 0, count = 0;

  std::int64_t end() const { return first + count; }
  bool operator==(const SampleRange&) const = default;
};

// Of each microbatch of `samples`, what copy `copy` of `replicas` takes under the batch split.
SampleRange replica_samples(std::int64_t samples, std::int32_t replicas, std::int32_t copy);
// The largest part: what a stage's times and memory are of.
inline std::int64_t largest_part(std::int64_t samples, std::int32_t replicas) {
  return (samples + replicas - 1) / replicas;
}

SampleRange samples_of(const Plan& plan, StageId stage, std::int32_t copy);
inline std::int64_t largest_part(const Plan& plan, const PlanStage& stage) {
  return stage.split == Split::Batch ? largest_part(plan.microbatch_size, stage.replicas) : plan.microbatch_size;
}

// Whether a copy runs a microbatch.
inline bool runs(const PlanStage& stage, std::int32_t copy, std::int64_t microbatch) {
  return stage.split == Split::Batch || microbatch % stage.replicas == copy;
}

bool is_replicated(const Plan& plan);

// The parts in which the loss of a microbatch comes: copies that share microbatches each have one. They are added in the
// order of the copies.
std::int64_t loss_parts(const PlanStage& stage);
std::int64_t loss_parts(const Plan& plan);  // of the stage with the loss; 1 without one

// The times of the network's layers at `samples` samples: Plan::layer_times or one of Plan::part_times; null if it has none.
const std::vector<StageTimes>* layer_times_at(const Plan& plan, std::int64_t samples);

// Samples that copies `from` of one stage and `to` of another both work on, of the microbatches that both run.
struct Meeting {
  std::int32_t from = 0, to = 0;
  SampleRange samples;
  bool whole = false;  // all samples of both
};
// Of the copies of the two ends of an edge, by (from, to). O(copies · copies).
std::vector<Meeting> meetings(const Plan& plan, StageId from, StageId to);

// What penstock::validate asks of replicas: a sample or a microbatch for each, a hop for each pair that meets, layer times at
// each part. Stages, ranks and edges have been found valid.
Result<void> validate_replicas(const Plan& plan);

}  // namespace penstock
