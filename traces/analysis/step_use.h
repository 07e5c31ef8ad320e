#pragma once

// What ranks do in the median step, so that busy and idle time add up to the iteration time.

#include <cstdint>
#include <vector>

#include "core/timeline.h"

namespace penstock {

// From the end of the step before (of the first step: from the first start) to its own end.
struct StepWindow {
  std::int32_t step = 0;
  Nanoseconds from, to;

  // How much of a span lies within.
  Nanoseconds share(const Span& span) const;
};

// The steps after warm-up in the middle by their step times, the earlier of two equal ones first: one, or two where their
// number is even. E.g. of 9, 4, 7 us the third; none where no step is left. O(spans log steps).
std::vector<StepWindow> median_steps(const Timeline& timeline);

// Of each rank in the median step, the mean where that is two: busy + idle = iteration_time. By time, not by step, as
// rank_use; but a step that a rank does not compute in counts for it all the same. All zero where no step is left.
std::vector<RankUse> step_use(const Timeline& timeline);

}  // namespace penstock
