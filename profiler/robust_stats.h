#pragma once

// Order statistics of a sample of durations: what machines with other things to do allow one to trust.

#include <vector>

#include "core/profile.h"

namespace penstock {

// Quantiles by linear interpolation between order statistics, rounded to the nanosecond. Empty sample: all zero.
Spread spread(std::vector<Nanoseconds> sample);

// Whether the last three of a series of medians lie within `tolerance` of one another.
bool settled(const std::vector<Nanoseconds>& medians, double tolerance);

}  // namespace penstock
