#include "core/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/invalid.h"

namespace penstock {

bool Contention::slows() const {
  return std::any_of(slowdown.begin(), slowdown.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](double factor) { return factor > 1; });
  });
}

Result<void> validate(const Contention& contention) {
  for (std::size_t c = 0; c < kWorkClasses; ++c)
    for (std::size_t d = 0; d < kWorkClasses; ++d) {
      const double factor = contention.slowdown[c][d];
      if (!(factor >= 1 && factor <= kMostSlowdown))
        return invalid(fmt::format("/slowdown/{}/{}", c, d), fmt::format("a slowdown of {}", factor),
                       "how many times as long: from 1 to 1000");
    }
  if (contention.cores < 0)
    return invalid("/cores", fmt::format("{} cores", contention.cores), "0: one a rank");
  if (contention.private_cache.value < 0)
    return invalid("/private_cache_bytes",
                   fmt::format("a cache of {} B", contention.private_cache.value), "0 or more");
  if (!(contention.memory_bandwidth.value >= 0 && std::isfinite(contention.memory_bandwidth.value)))
    return invalid("/memory_bandwidth",
                   fmt::format("a bandwidth of {} B/s", contention.memory_bandwidth.value), "0 or more");
  return {};
}

}  // namespace penstock
