#pragma once

// Where buffers lie in a rank's memory. Depends on sizes and on the order of first and last use alone, never on times, so
// that the simulator's memory claim and the executor's addresses are the same numbers.

#include <cstdint>
#include <span>
#include <vector>

#include "core/units.h"

namespace penstock {

// Live from before position `first` to after position `last` of some order.
struct Lifetime {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Bytes bytes;
};

struct Layout {
  std::vector<Bytes> offsets;  // one a lifetime, 64-byte aligned; those live at once never overlap
  Bytes peak;                  // highest end address
  Bytes live_peak;             // most bytes (each rounded up to 64) live at one position: no layout can do better
};

// Deterministic best fit: lifetimes by first use, then size descending, then index; each goes to the smallest gap between
// the buffers live at its start, the lowest of equals, else on top. O(n log n). Up to kFewLifetimes of them, where that
// wastes space, largest-first is tried too and the better of the two returned. A lifetime of 0 bytes lies at offset 0.
// Equal sizes always pack perfectly (peak = live_peak): every gap is then a whole number of buffers.
inline constexpr std::size_t kFewLifetimes = 256;
Layout lay_out(std::span<const Lifetime> lifetimes);

}  // namespace penstock
