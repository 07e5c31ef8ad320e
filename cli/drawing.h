#pragma once

// The picture of a timeline that `schedule` and `simulate --gantt` print.

#include <cstdint>
#include <string>

#include "cli/flags.h"
#include "core/timeline.h"

namespace penstock::cli {

inline constexpr std::int32_t kDefaultColumns = 100;

// --width N: columns of the time axis.
void declare_width(Flags& flags, std::int32_t& columns);

// The last step, a line a rank, the axis, and what the signs mean. Where times are in a unit of the
// user's own there is no axis: it counts in nanoseconds, and would name a unit that nobody meant.
// "" of nothing.
std::string draw(const Timeline& timeline, std::int32_t columns, bool own_unit);

}  // namespace penstock::cli
