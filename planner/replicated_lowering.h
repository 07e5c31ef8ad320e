#pragma once

// Lowering of plans whose stages have replicas. Not for use outside planner/: call penstock::lower.

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "planner/lowering.h"

namespace penstock {

// As lower_parts, for the plan's own schedule with STEPs: program without first and last uses, offsets and arenas. Of a plan
// without replicas the same program. `parts`: of the plan. O(operations · copies that an operation's messages come from).
Result<Program> lower_replicated(const Plan& plan, LoweringParts parts);

}  // namespace penstock
