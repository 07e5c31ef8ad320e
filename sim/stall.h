#pragma once

// Why a program stopped making progress.

#include <cstdint>
#include <span>

#include "core/result.h"
#include "sim/engine_state.h"

namespace penstock {

// Nothing is left to happen at `now` and `stream` has not finished: follows who waits for whom
// until a stream comes up again, or one is waited for that has finished. Of a group, names the
// members that have not come, and follows the first of them. O(streams · members).
Error stall(const Program& program, std::span<const StreamState> streams,
            std::span<const EdgeState> edges, std::span<const GroupState> groups,
            std::uint32_t stream, Nanoseconds now);

}  // namespace penstock
