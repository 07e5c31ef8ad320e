#include "planner/strategies.h"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace penstock {
namespace {

constexpr std::array<Strategy, 1> kStrategies = {
    {{.name = "auto",
      .about = "least simulated iteration time: for each microbatch size, schedule and number of "
               "ranks the exact division by dynamic programming, improved by moving cuts; the best "
               "are simulated in full, and the result carries proven bounds",
      .source = "our own"}}};

}  // namespace

std::span<const Strategy> strategies() {
  return kStrategies;
}

Result<const Strategy*> find_strategy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : kStrategies) {
    if (strategy.name == name) return &strategy;
    names.push_back(strategy.name);
  }
  const std::string_view meant = nearest(name, names);
  return fail(ErrorCode::Usage, fmt::format("there is no strategy \"{}\"", name),
              meant.empty() ? fmt::format("there is {}", fmt::join(names, ", "))
                            : fmt::format("did you mean {}?", meant));
}

}  // namespace penstock
