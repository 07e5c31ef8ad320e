#pragma once

// What each rank holds over one step of a timeline, and of what its peak consists.

#include <cstdint>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/timeline.h"

namespace penstock {

struct MemoryPoint {
  Nanoseconds time;
  Bytes bytes;  // from then on
  bool operator==(const MemoryPoint&) const = default;
};

struct Holder {
  BufferClass cls = BufferClass::Stash;
  std::int32_t buffers = 0;
  Bytes bytes;
  bool operator==(const Holder&) const = default;
};

// What ran, and what was held, the largest first.
struct MemoryMoment {
  std::string at;
  std::vector<Holder> holders;
};

struct MemoryUse {
  RankId rank;
  Bytes limit;      // 0: none is known
  Bytes peak;       // of the layout; 0: unknown
  Bytes live_peak;  // 0: unknown
  std::vector<MemoryPoint> curve;  // of the step; empty where nothing is recorded
  // By the program, empty without one. The first with the most bytes live; and, where the layout's peak is higher than that,
  // the first at which a buffer reaches it, with how much below it no buffer holds then.
  MemoryMoment fullest, highest;
  Bytes unused;
};

// One a rank. Curves are the timeline's counters named "memory"; where a rank has none and the program is at hand, they
// follow from it: which buffers are live is decided by order alone, so its compute spans say when. A program that does not
// fit (other ranks, other instructions in the step) adds no curve. `program`: nullptr for none.
// O(spans + points + instructions + buffers).
std::vector<MemoryUse> memory_use(const Timeline& timeline, std::int32_t step, const Program* program);

// "weights 101 MiB, 4 stashes 512 MiB": the first `most`, the rest in sum.
std::string holders_text(const MemoryMoment& moment, std::size_t most = 4);

}  // namespace penstock
