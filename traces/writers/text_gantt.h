#pragma once

// A timeline for a terminal: one line a rank, time from left to right, each operation drawn as its microbatch's number over
// the columns it takes; forwards plain, backwards marked, idle as dots.
//
//   rank 0 |00112233···························00001111222233334444|   (columns of equal time)
//   rank 1 |··00112233……
//
// A cell shows what covers most of it; a change of operation starts with F, B, L(oss) or S(tep) where the room allows.

#include <string>

#include "core/timeline.h"

namespace penstock {

struct GanttOptions {
  int columns = 100;         // of the time axis
  std::int32_t step = -1;    // which step to draw; -1: the last
  bool colour = false;       // ANSI: forwards blue, backwards green, the rest yellow
};

std::string text_gantt(const Timeline& timeline, const GanttOptions& options = {});

}  // namespace penstock
