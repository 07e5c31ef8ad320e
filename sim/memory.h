#pragma once

// How much memory a rank holds while it runs, from the buffers of its program: their first and last
// uses are positions in the compute stream's body, so what is live at a position is known before
// any time is.

#include <vector>

#include "core/program.h"
#include "core/units.h"

namespace penstock {

struct LiveMemory {
  Bytes always;           // persistent buffers: before, between and after bodies
  std::vector<Bytes> at;  // one a position of the compute body: what is live while it runs
  Bytes peak;             // the largest of these; what Program::live_peak claims
};

// Sizes count rounded up to 64 bytes, as in core/layout. O(buffers of the rank + body).
LiveMemory live_memory(const Program& program, RankId rank);

}  // namespace penstock
