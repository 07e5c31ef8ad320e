#pragma once

// Predicted against measured: two timelines of one plan joined instruction by instruction.

#include <vector>

#include "core/result.h"
#include "core/timeline.h"

namespace penstock {

// One kind of operation of one stage: medians over its microbatches and the steps after warm-up.
struct OpComparison {
  Op op = Op::F;
  std::int32_t stage = 0;
  std::int64_t instructions = 0;  // matched, in one step
  Nanoseconds predicted, measured;
  double error = 0;  // (predicted - measured) / measured
};

struct RankComparison {
  RankId rank;
  Nanoseconds predicted_busy, measured_busy;  // in the median step (step_use): they add up to the iteration time
  Nanoseconds predicted_idle, measured_idle;  // likewise: waiting, in RECV and between instructions
  double predicted_bubble = 0, measured_bubble = 0;
  Bytes predicted_peak, measured_peak, predicted_live, measured_live;
};

struct Comparison {
  Nanoseconds predicted, measured;  // iteration times
  double error = 0;                 // (predicted - measured) / measured
  std::vector<OpComparison> ops;    // by stage, then op
  std::vector<RankComparison> ranks;
  std::int64_t matched = 0;

  // Where the error comes from. The largest, over ranks, of |predicted - measured| / measured busy
  // time; and how much longer than predicted a rank waits in a step (mean of the ranks).
  double busy_error() const;
  Nanoseconds more_waiting() const;
};

// Infeasible (a mismatch) where the timelines come from different plans, or hold different
// instructions: names the first that only one of them has. O(spans log spans).
Result<Comparison> compare(const Timeline& predicted, const Timeline& measured);

}  // namespace penstock
