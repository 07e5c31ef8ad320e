#pragma once

// What the lanes of a timeline are called, in predicted and in measured ones alike.

#include <cstddef>
#include <string>

#include "core/program.h"

namespace penstock {

// "compute", "send 0>1" (ranks) or "receive 0>1", "collective", else "stream 3". Where a rank has several streams to one other,
// their edges tell them apart: "send 0>1 e4".
std::string lane_of(const Program& program, std::size_t rank, std::size_t stream);

}  // namespace penstock
