#pragma once

// Longest chains of dependent layers from layer 0.

#include <cstdint>
#include <vector>

#include "planner/bounds/bounds.h"

namespace penstock {

// [l]: nanoseconds of the longest chain from layer 0 up to and with l, by F and by BF; -1 where l
// does not depend on 0.
struct Chains {
  std::vector<std::int64_t> forward, backward;
};
Chains chains_from_first(const BoundProblem& problem);

}  // namespace penstock
