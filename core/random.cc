#include "core/random.h"

#include <cmath>
#include <numbers>

namespace penstock {

double normal(std::uint64_t key) {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform(combine(key, 1))));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(combine(key, 2)));
}

}  // namespace penstock
