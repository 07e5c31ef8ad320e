#include "profiler/robust_stats.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

Nanoseconds quantile(const std::vector<Nanoseconds>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  const auto step = static_cast<double>((sorted[above] - sorted[below]).value);
  return sorted[below] + Nanoseconds(static_cast<std::int64_t>(std::llround(part * step)));
}

}  // namespace

Spread spread(std::vector<Nanoseconds> sample) {
  Spread out;
  out.n = static_cast<std::int64_t>(sample.size());
  if (sample.empty()) return out;
  std::sort(sample.begin(), sample.end());
  out.min = sample.front();
  out.p10 = quantile(sample, 0.1);
  out.median = quantile(sample, 0.5);
  out.p90 = quantile(sample, 0.9);
  for (Nanoseconds& t : sample) t = Nanoseconds(std::abs((t - out.median).value));
  std::sort(sample.begin(), sample.end());
  out.mad = quantile(sample, 0.5);
  return out;
}

bool settled(const std::vector<Nanoseconds>& medians, double tolerance) {
  if (medians.size() < 3) return false;
  const auto [least, most] = std::minmax_element(medians.end() - 3, medians.end());
  return static_cast<double>(most->value) <= static_cast<double>(least->value) * (1 + tolerance);
}

}  // namespace penstock
