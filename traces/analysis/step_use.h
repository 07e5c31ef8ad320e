#pragma once

// What ranks do in the median step, so that busy and idle time add up to the iteration time.

#include <vector>

#include "core/timeline.h"

namespace penstock {

// The steps after warm-up in the middle by their step times, the earlier of two equal ones first: one, or two where their
// number is even. E.g. of 9, 4, 7 us the third; none where no step is left. O(spans log steps).
std::vector<StepWindow> median_steps(const Timeline& timeline);

struct RankUse {
  RankId rank;
  Nanoseconds busy, idle;      // of the compute lane; idle = wall - busy
  double bubble_fraction = 0;  // idle / wall
};
// Of each rank in the median step, the mean where that is two: busy + idle = iteration_time. By time, not by step: a rank may
// begin the next step while another still finishes this one; and a step that a rank does not compute in counts for it all the
// same. All zero where no step is left.
std::vector<RankUse> step_use(const Timeline& timeline);

}  // namespace penstock
