#pragma once

// Lower bounds on the iteration time of every plan in the named plan space, and a checker that re-derives a plan's claims
// without the solver. Notation: m microbatches, T_l = F + B + W of layer l, p ranks.

#include <vector>

#include "core/plan.h"
#include "core/program_check.h"
#include "core/result.h"
#include "models/costs/cost_table.h"

namespace penstock {

// Any division of the layers into at most `ranks` contiguous stages, any order of their operations:
//   work            m·Σ T_l / p + least update time
//   longest layer   m·max T_l
//   fill and drain  for the layer i: forwards of what is before it, then m·T_i, then backwards of what is before it —
//                   nothing of layer i can start before one forward of the prefix, nor end later than one backward before the end
std::vector<Bound> lower_bounds(const CostTable& costs, std::int32_t ranks, std::int64_t microbatches);

// What is wrong with what the plan claims: validity, memory, iteration time (simulated anew), bound (derived anew from the
// times it carries), gap. Empty: the certificate holds.
std::vector<Violation> verify(const Plan& plan);

}  // namespace penstock
