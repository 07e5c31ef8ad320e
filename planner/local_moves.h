#pragma once

// Improves a division by moving its cuts: the least bottleneck is not always the least makespan, as
// the pipeline fills and drains and its messages skip stages.

#include <cstdint>
#include <stop_token>
#include <vector>

#include "planner/candidate.h"
#include "sim/evaluate.h"

namespace penstock {

struct EvaluatedDivision {
  std::vector<std::int32_t> ends;
  Nanoseconds makespan;  // of one step, STEP included, under rendezvous
};

Result<Nanoseconds> evaluate_division(const Setting& setting, const std::vector<std::int32_t>& ends,
                                      Evaluator& evaluator);

// Steepest descent: of all moves of one cut by 1, 2, 4 or 8 layers that keep every stage non-empty
// and within its limit by least_memory, the one with the least makespan, the first of equals, until
// none is shorter than what is there or `most_operations` operations have been evaluated.
// Deterministic. `range` is of the setting's workload and costs.
Result<EvaluatedDivision> improve(const Setting& setting, EvaluatedDivision start,
                                  StageGrower& range, Evaluator& evaluator,
                                  std::int64_t most_operations, const std::stop_token& stop);

}  // namespace penstock
