#pragma once

// How ranks of one host slow one another down. Work is of a class, or of several in parts that add up to 1; while work of
// parts w runs, other work v that runs at the same time on the same host adds to what it takes:
//
//   rate of w = share / (1 + p · Σ over the others v: Σ c, d: w[c] · v[d] · (slowdown[c][d] - 1))
//
// Compute and copies alike run on a core. n of them on k cores: share = 1 and p = 1 where n <= k; else they take turns,
// share = k/n, and of a work's n - 1 others k - 1 run beside it, p = (k - 1)/(n - 1). Ranks of other hosts do not matter.
//
// Example, 2 cores, slowdown[memory][memory] = 1.5: two memory-bound operations of 10 ms each end after 15 ms; one of 10 ms
// beside one of 30 ms ends after 15 ms, and the other runs alone after having done 10 of its 30 ms: it ends after 35 ms. Two
// that are bound by memory for half of their time slow each other by a quarter of that: 11.25 ms.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "core/units.h"

namespace penstock {

// matrix: bound by arithmetic, or by a core's own caches. memory: by what cores share. copy: hand-offs between ranks.
enum class WorkClass : std::uint8_t { Matrix, Memory, Copy };
inline constexpr std::size_t kWorkClasses = 3;
constexpr auto enum_names(WorkClass) {
  return std::to_array<std::pair<WorkClass, std::string_view>>(
      {{WorkClass::Matrix, "matrix"}, {WorkClass::Memory, "memory"}, {WorkClass::Copy, "copy"}});
}

struct Contention {
  using Matrix = std::array<std::array<double, kWorkClasses>, kWorkClasses>;

  Matrix slowdown{{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};  // [whose][beside whose], each at least 1
  std::int64_t cores = 0;  // of each host; 0: every rank has its own
  Bytes private_cache;     // of a core: work that stays within it is of class matrix
  BytesPerSecond memory_bandwidth;  // of a core alone, at work of class memory; 0: not known, and no work is of it

  double of(WorkClass work, WorkClass beside) const {
    return slowdown[static_cast<std::size_t>(work)][static_cast<std::size_t>(beside)];
  }
  // Whether any class slows any other.
  bool slows() const;
  bool operator==(const Contention&) const = default;
};

// Slowdowns from 1 to kMostSlowdown; cores, cache and bandwidth not negative. Errors carry a JSON pointer from the contention.
inline constexpr double kMostSlowdown = 1000;
Result<void> validate(const Contention& contention);

}  // namespace penstock
