#pragma once

// What a plan comes to: its memory from the lowered program's layout, its time from simulating it.

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "core/units.h"

namespace penstock {

// Lays the plan's program out, proves it, and simulates three steps: fills devices' peaks,
// iteration time (of the steady steps, docs/metrics.md) and throughput. Used by make_plan, and by
// anyone who edits a plan by hand. (Infeasible) where the program does not pass penstock::check, a
// limit of memory included; peaks are filled all the same.
Result<void> predict(Plan& plan);

// The two halves: lowers and fills peaks; proves and simulates.
Result<Program> lay_out(Plan& plan);
Result<Nanoseconds> simulated_iteration_time(const Program& program);

}  // namespace penstock
