#pragma once

// Where the difference between a predicted and a measured iteration comes from, and the sentence that says so.
//
// Seen from one rank, a step is what it computes and what it waits, so the difference of the median steps is the sum, exact to
// the rounding, of the differences of each kind of operation there and of its waiting. The rank is the one that is measured
// busiest: the others wait for it, and their waiting would only echo its delays.

#include <optional>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "traces/analysis/compare.h"

namespace penstock {

struct ErrorPart {
  std::optional<Op> op;  // none: waiting
  std::int32_t stage = 0;
  Nanoseconds predicted, measured;  // a step, in sum
  double count = 0;                 // of such operations in a step; 0 for waiting
};

struct ErrorSource {
  RankId rank;
  Nanoseconds difference;        // measured minus predicted iteration time
  std::vector<ErrorPart> parts;  // the one that explains most first
};

// Empty parts where there are no ranks. O(spans).
ErrorSource find_error_source(const Timeline& predicted, const Timeline& measured);

// One sentence: predicted, measured, the error, and what most of it is.
std::string verdict(const Comparison& comparison, const ErrorSource& source);

}  // namespace penstock
