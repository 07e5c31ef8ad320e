#pragma once

// workload + cluster + costs -> Plan. A setting is a microbatch size, a schedule and a number of
// stages. For each: the exact dynamic program over contiguous stages under memory limits gives the
// division with the least bottleneck, whose order is evaluated (one step, under rendezvous). The
// most promising are improved by moving cuts, lowered, proved and simulated; the least iteration
// time becomes the plan (of equals: fewer ranks, then less memory on the fullest rank, then the
// order of the search: large microbatches first, schedules as listed, many ranks first). Settings
// whose lower bound exceeds what is in hand are left out. Same request, same plan, bit for bit.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/result.h"
#include "core/workload.h"
#include "planner/predict.h"

namespace penstock {

struct PlanRequest {
  Workload workload;                   // of one network
  Cluster cluster;                     // of one kind of device
  std::optional<Profile> profile;      // none: costs are derived from the device's peak rates
  std::vector<std::string> schedules;  // empty: all that are built in; "name:key=value"
  std::vector<std::int64_t>
      microbatch_sizes;    // empty: all divisors of the batch that the costs cover
  std::int64_t cores = 0;  // of each host, which its ranks share; 0: every device is one of its own
  std::int32_t ranks = 0;  // stages to use; 0: any number up to the cluster's devices
  // Of each stage, in order; {1}: no stage has any, of any number; empty: any number, where that is faster.
  std::vector<std::int32_t> replicas = {1};
  Split split = Split::Batch;  // how replicas share the batch
  Bytes memory_limit;      // a rank; 0: the device's memory
  std::vector<LayerKind> recompute;  // layers of these kinds keep nothing and run their forward again
  std::stop_token stop;    // asked to stop: the best plan so far, or Interrupted if none
  std::function<void(std::size_t done, std::size_t of, double best_s)>
      progress;  // settings; best_s 0: none so far
};

// Usage: a schedule or microbatch size that cannot be. BadInput: a workload, cluster or profile
// that does not hold together. Infeasible: nothing fits; says by how much, on which stage, and what
// would help.
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace penstock
