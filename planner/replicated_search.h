#pragma once

// Plans whose stages have replicas. Not for use outside planner/: call make_plan.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.h"
#include "models/costs/cost_table.h"
#include "planner/schedules/schedule.h"
#include "planner/search.h"
#include "planner/search_space.h"

namespace penstock {

// One microbatch size, and the costs at every part of it that replicas may take, by samples.
struct ReplicaCosts {
  std::int64_t microbatch = 1;
  std::map<std::int64_t, CostTable> parts;  // the whole microbatch among them

  const CostTable* of(std::int32_t replicas, Split split) const;
};

// The plan of a division over the cluster's first devices, complete but for what penstock::predict fills and the certificate.
// (Infeasible) where devices are not connected.
Result<Plan> replicated_plan(const PlanRequest& request, const ReplicaCosts& costs, const ChosenSchedule& schedule,
                             const std::vector<std::int32_t>& ends, const std::vector<std::int32_t>& replicas, Split split);

// The ranks that the replicas a request names take together. (Usage, Infeasible) where the cluster has too few devices, the
// network too few layers for that many stages, or the request names another number of ranks.
Result<std::int32_t> ranks_of_replicas(const PlanRequest& request);

// The fastest plan of the request's replicas (of any, where it names none and there are some), certified; all settings of
// microbatch and schedule are divided by partition/replica_dp.h, the most promising moved and simulated. (Usage, Infeasible)
// says what does not fit what.
Result<Plan> search_replicated(const PlanRequest& request);

}  // namespace penstock
