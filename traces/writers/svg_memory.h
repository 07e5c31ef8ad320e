#pragma once

// Memory over time, a panel a rank: the curve, its peak with what ran then and what was held, and the limit. A limit far
// above the peak is said, not drawn: the curve would lie flat on the ground.

#include <string>
#include <vector>

#include "traces/analysis/memory_use.h"
#include "traces/writers/svg.h"

namespace penstock {

// One line in a panel.
struct MemoryLine {
  const MemoryUse* use = nullptr;
  Nanoseconds start, end;  // of the step
  Tone tone = Tone::Predicted;
  std::string name;  // "predicted"; "" where there is but one
};

struct MemoryAxis {
  double left = 96, right = 1180;  // pixels
  Nanoseconds length;              // of the time axis, from the start of each line's step
  bool bare = false;
};

inline constexpr double kMemoryPanelHeight = 104;  // pixels, of one rank

// Draws one rank's panel with its top at y. Lines are laid on each other from the start of their steps; nothing is drawn of
// one without a curve but its peak.
void draw_memory(Svg& svg, double y, const std::vector<MemoryLine>& lines, const MemoryAxis& axis);

// Panels of all ranks beneath each other with an axis at the bottom, as a file of its own.
std::string svg_memory(const Timeline& timeline, const std::vector<MemoryUse>& memory, std::int32_t step, bool bare = false);

// The axis beneath a picture: marks down from `top` to `bottom`, the labels beneath.
void draw_axis(Svg& svg, double top, double bottom, const MemoryAxis& axis);

}  // namespace penstock
