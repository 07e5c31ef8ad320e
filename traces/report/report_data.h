#pragma once

// What the report's scripts draw from: the chosen steps of both timelines, as JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "core/timeline.h"

namespace penstock {

struct ChosenStep {
  std::int32_t step = 0;
  Nanoseconds time;   // its step time
  std::string what;   // "nearest the median", "fastest", "slowest"
};

// Of the steps after warm-up (all, where there are no others): the one whose time is nearest the median, then the fastest and
// the slowest where they are other ones. Empty where nothing happened.
std::vector<ChosenStep> choose_steps(const Timeline& timeline);

// {"shades", "paints": [{css, letter, meaning}], "names": [span names], "panels": [{name, steps: [{total, lanes: [[rank, name,
// compute, depth]], and per span, by (lane, start), arrays lane, row, start, length, paint, shade, busy, label, name}]}]}.
// Times are nanoseconds from the first start of the step. Spans of both panels with one name are counterparts. Safe inside
// <script>: no '<' stands in it.
std::string report_data(const Timeline& predicted, const std::vector<ChosenStep>& predicted_steps, const Timeline& measured,
                        const std::vector<ChosenStep>& measured_steps);

// Shades that the data above uses.
std::int32_t report_shades(const Timeline& predicted, const Timeline& measured);

}  // namespace penstock
