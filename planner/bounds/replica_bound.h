#pragma once

// What no plan with replicas can beat, and the space of plans that is meant.

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"

namespace penstock {

// Contiguous stages, the next on the next devices. Either each stage has its own number of replicas, or any of `counts`, on
// at most `devices` in all.
struct ReplicaSpace {
  std::vector<std::int32_t> replicas;  // of each stage, in order; empty: any of `counts`
  std::vector<std::int32_t> counts;
  std::int32_t devices = 1;
  Split split = Split::Batch;

  // [d]: how many replicas a stage may have whose first device is d.
  std::vector<std::vector<std::int32_t>> options() const;
};

// The spaces that a plan's certificate may speak of: that of its own replicas, and those of all counts whose layer times it
// carries, on its own number of ranks or on all devices of its cluster.
std::vector<ReplicaSpace> replica_spaces(const Plan& plan);
std::string text(const ReplicaSpace& space, std::int64_t microbatches, std::int64_t microbatch_size);

// "longest layer" and "division". A rank of a stage S with R replicas takes, of a step of m microbatches,
//
//   batch  m·T(S) + step(S)     round_robin  ⌈m/R⌉·T(S) + step(S)
//
// with T at the largest part of a microbatch that a replica takes (as the engine charges all of them), in any order of
// forwards and full backwards; transfers and all-reduces are free here. No iteration is shorter than the busiest rank's work;
// the least of that over layers alone, and over divisions of the space, by dynamic programming. O(n² · devices · counts).
std::vector<Bound> replica_bounds(const Plan& plan, const ReplicaSpace& space);

}  // namespace penstock
