#pragma once

// Why a program stopped making progress.

#include <cstdint>
#include <span>

#include "core/result.h"
#include "sim/engine_state.h"

namespace penstock {

// Nothing is left to happen at `now` and `stream` has not finished: follows who waits for whom
// until a stream comes up again, or one is waited for that has finished. O(streams).
Error stall(std::span<const StreamState> streams, std::span<const EdgeState> edges,
            std::uint32_t stream, Nanoseconds now);

}  // namespace penstock
