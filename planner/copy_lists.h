#pragma once

// What each rank of a plan computes, in order, where stages have replicas. Not for use outside planner/: call
// penstock::lower.
//
// Without round-robin replicas every copy of stage s runs the list that the plan's schedule gives stage s of p. With them,
// stages take turns at microbatches, and the schedule is 1F1B-RR (Narayanan et al., "PipeDream", SOSP 2019, section 3.2):
// copy c of R runs microbatches c, c + R, …, first K forwards, then a backward and a forward in turn, then the backwards
// that are left, where
//
//   K = ⌈R_s + R_{s+1} + … / R_s⌉      (R = 1 for a stage whose copies share every microbatch)
//
// microbatches of its own keep it busy until the first gradient comes back. gpipe runs all forwards of its own, then all
// backwards. 2:1, 4 microbatches:
//
//   copy 0 of stage 0   F0 F2 BF0 BF2          K = 2
//   copy 1 of stage 0   F1 F3 BF1 BF3
//   stage 1             F0 BF0 F1 BF1 F2 BF2 F3 BF3

#include <cstdint>
#include <vector>

#include "core/order.h"
#include "core/plan.h"
#include "core/result.h"

namespace penstock {

struct CopyList {
  StageId stage;
  std::int32_t copy = 0;
  std::vector<OrderOp> ops;  // F and BF
};

// One a rank. (Infeasible) where the schedule does not admit the shape or, among round-robin replicas, is neither 1f1b nor
// gpipe. O(operations).
Result<std::vector<CopyList>> copy_lists(const Plan& plan);

}  // namespace penstock
