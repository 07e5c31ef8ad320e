#pragma once

// What a search says of its outcome, in words.

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "planner/partition/contiguous_dp.h"

namespace penstock {

// "stage 1 (layers 12-23): 184 ms of compute a step; memory leaves 1.2 GiB free": the stage that
// the iteration waits for most, and how near its rank is to its limit.
std::string binding_constraint(const Plan& plan);

// "1f1b on 4 ranks, 16 microbatches of 2"; "1f1b on 2:1 ranks, …" where stages have replicas.
std::string describe(const Plan& plan);

// "layers 12-23", "layer 4": [first, end).
std::string describe_layers(std::int32_t first, std::int32_t end);

// Why no setting fits: of the one that came nearest, the stage that lacks memory.
struct NearestMiss {
  std::string schedule;
  std::int32_t ranks = 0;
  std::int64_t microbatch_size = 0;
  Bytes limit;  // of that stage's rank
  Shortage shortage;
};

// What the request kept the search from trying.
struct Restrictions {
  bool smaller_microbatches = false;  // the batch has divisors below those tried
  bool more_ranks =
      false;  // the cluster has more devices than were asked for, and the network the layers
  bool one_f_one_b = false;   // 1f1b was not among the schedules
  bool higher_limit = false;  // the limit lies below the device's memory
};
Error nothing_fits(const NearestMiss& miss, const Restrictions& restrictions);

}  // namespace penstock
