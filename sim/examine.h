#pragma once

// What the engine asks of a program before it runs it.

#include <cstdint>
#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "sim/engine_state.h"

namespace penstock {

// Refuses by name (Unavailable) an operation or a grouping that the engine does not know, and notes which stream holds the
// ends of the instruction's edge, and its member's calls of a group. `stream` counts over all ranks. O(1), of a collective
// O(members).
Result<void> examine(const Program& program, const Instruction& instruction, std::uint32_t stream,
                     const std::vector<StreamState>& streams, std::vector<EdgeState>& edges,
                     std::vector<GroupState>& groups);

}  // namespace penstock
