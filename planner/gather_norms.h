#pragma once

// Clipping by the norm of all gradients (Optimizer::clip): before its STEP each rank hands the squared norms of its
// parameters' gradients to all others, 8 bytes a parameter, and all add them up in one order.

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "models/costs/cost_table.h"

namespace penstock {

// The slowest hop around all ranks of a plan whose optimizer clips; nothing of others.
Result<void> add_gather_hop(Plan& plan, const CostTable& costs);

// Into a lowered program, before first and last uses are known: a group of all ranks, on each a table, and before its first
// STEP a GATHER that waits for what STEP waits for. Nothing where the optimizer does not clip. O(instructions).
void gather_norms(const Plan& plan, Program& program);

}  // namespace penstock
