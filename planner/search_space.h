#pragma once

// What a search ranges over: a request made definite.

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "models/costs/cost_table.h"
#include "planner/schedules/schedule.h"
#include "planner/search.h"

namespace penstock {

struct SearchSpace {
  std::int32_t least_ranks = 1, most_ranks = 1;  // at most as many as devices and layers
  std::vector<ChosenSchedule> schedules;
  std::vector<CostTable> costs;  // one a microbatch size, descending
};

// What `samples` at once cost on the request's devices, with what it recomputes: of its profile, or derived.
Result<CostTable> costs_of(const PlanRequest& request, std::int64_t samples);

// Errors as of make_plan, for what can be refused before anything is searched.
Result<SearchSpace> search_space(const PlanRequest& request);

}  // namespace penstock
