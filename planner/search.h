#pragma once

// workload + cluster + costs -> Plan. For each candidate (schedule, microbatch size, number of stages): the exact dynamic
// program over contiguous stages under memory limits gives the division with the least bottleneck, its order is evaluated,
// and the best by simulated iteration time becomes the plan, with its certificate.

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

namespace penstock {

struct PlanRequest {
  Workload workload;
  Cluster cluster;
  std::optional<Profile> profile;
  std::vector<std::string> schedules;          // empty: all
  std::vector<std::int64_t> microbatch_sizes;  // empty: all divisors of the batch that the costs cover
  std::int32_t ranks = 0;                      // stages to use; 0: any number up to the cluster's devices
  Bytes memory_limit;                          // a rank; 0: the device's memory
  std::stop_token stop;                        // asked to stop: the best plan so far, or Interrupted if none
  std::function<void(std::size_t done, std::size_t of, double best_s)> progress;
};

// Infeasible says by how much, on which stage, and what would help.
Result<Plan> make_plan(const PlanRequest& request);

// Lays the plan's program out, and simulates it: fills devices' peaks, iteration time and throughput. Used by make_plan, and
// by anyone who edits a plan by hand.
Result<void> predict(Plan& plan);

}  // namespace penstock
