#pragma once

// A timeline as a picture: time from left to right, a row of boxes a rank, beneath it a thin row for each of its lanes of
// messages and collectives. Colours as in palette.h; a box holds its microbatch where there is room, and says its
// instruction, start and length while the pointer rests on it. What is not busy on the compute lane (a RECV) is drawn low.
// Beneath, where memory is given, a curve a rank over the same axis (svg_memory.h).
//
// Plain SVG 1.1 without scripts, light or dark as the reader prefers; same timeline, same bytes. O(spans log spans).

#include <string>
#include <vector>

#include "core/timeline.h"
#include "traces/analysis/memory_use.h"
#include "traces/writers/picture.h"

namespace penstock {

struct SvgOptions {
  double width = 1200;               // pixels, of the whole
  std::int32_t step = kLastStep;     // kAllSteps: the whole timeline
  bool bare = false;                 // times are in a unit of the user's own
  std::vector<MemoryUse> memory;     // of the same step
};

std::string svg_gantt(const Timeline& timeline, const SvgOptions& options = {});

}  // namespace penstock
