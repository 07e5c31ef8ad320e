#pragma once

// The ways to search for a plan that --strategy names: one a row.

#include <span>
#include <string_view>

#include "core/result.h"

namespace penstock {

struct Strategy {
  std::string_view name;
  std::string_view about;   // one line: what it searches, and for what
  std::string_view source;  // paper, section, or "our own"
};

std::span<const Strategy> strategies();

// A usage error, naming the nearest and all there are, for a name that is none.
Result<const Strategy*> find_strategy(std::string_view name);

}  // namespace penstock
