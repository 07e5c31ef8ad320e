#pragma once

// How the gradients of a replicated stage are cut into buckets, and its last backward into parts, one a bucket, so that each
// bucket can be added up while the next part computes. Not for use outside planner/: call penstock::lower.
//
// Example: layers 0..3 with one parameter each, buckets {3, 2} and {1, 0}:  part 0 runs the backward of layers 3 and 2, part
// 1 that of 1 and 0, and the all-reduce of bucket 0 runs beside part 1. Buckets that end in the same layer wait for the same
// part; layers below the last parameter belong to the last part.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "core/program.h"

namespace penstock {

// What the key of an instruction can tell apart. Where the limits of a plan make more buckets, neighbours become one
// (core/buckets.h), so that a stage of any size can be added up.
inline constexpr std::size_t kMostBuckets = 256;

struct StageBuckets {
  struct Part {
    std::int32_t first_layer = 0, end_layer = 0;  // counted within the stage
    Nanoseconds time;
  };
  std::vector<Part> parts;              // from the last layers to the first; at least one
  std::vector<Group> groups;            // one a bucket, in the order in which they are launched
  std::vector<std::int32_t> after_part; // one a bucket: the part that completes it
};

// Of a replicated stage of a valid plan. O(parameters).
StageBuckets stage_buckets(const Plan& plan, StageId stage);

}  // namespace penstock
