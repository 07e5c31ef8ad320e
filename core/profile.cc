#include "core/profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace penstock {

const LayerTime* Profile::find(const std::string& signature, CostOp op,
                               std::int64_t microbatch) const {
  const auto found = std::find_if(times.begin(), times.end(), [&](const LayerTime& row) {
    return row.op == op && row.microbatch == microbatch && row.signature == signature;
  });
  return found == times.end() ? nullptr : &*found;
}

Contention Profile::contention_of_host() const {
  Contention out;
  out.private_cache = private_cache;
  for (const ContentionTime& row : contention) {
    out.slowdown[static_cast<std::size_t>(row.work)][static_cast<std::size_t>(row.beside)] = row.slowdown;
    // The fastest: what a core can do.
    if (row.work == WorkClass::Memory && row.alone.median.value > 0)
      out.memory_bandwidth = std::max(out.memory_bandwidth,
                                      BytesPerSecond(static_cast<double>(row.moved.value) / seconds(row.alone.median)));
  }
  return out;
}

std::vector<LinkTime> Profile::links_alone(std::string_view path) const {
  std::vector<LinkTime> out;
  std::copy_if(links.begin(), links.end(), std::back_inserter(out),
               [&](const LinkTime& row) { return row.path == path && row.is_alone(); });
  return out;
}

bool Profile::is_stable() const {
  return !drift || std::abs(*drift) <= kMostDrift;
}

const LayerMemory* Profile::find_memory(const std::string& signature,
                                        std::int64_t microbatch) const {
  const auto found = std::find_if(memory.begin(), memory.end(), [&](const LayerMemory& row) {
    return row.microbatch == microbatch && row.signature == signature;
  });
  return found == memory.end() ? nullptr : &*found;
}

// Minimises Σ ((α + σ·x - t) / t)², σ = 1/β the slope: a straight line by weighted least squares,
// weights 1/t². Sizes span six powers of ten, so equal weights would fit the largest message alone.
LinkFit fit_link(const std::vector<LinkTime>& times) {
  PENSTOCK_CHECK(!times.empty(), "a fit needs at least one measurement");
  constexpr double kNanosecond =
      1e-9;  // no clock of ours tells less, so no time is taken for shorter
  double w = 0, wx = 0, wt = 0, largest = 1;
  bool one_size = true;
  for (const LinkTime& row : times) {
    const double t = std::max(seconds(row.time.median), kNanosecond);
    const double x = static_cast<double>(row.bytes.value);
    w += 1 / (t * t);
    wx += x / (t * t);
    wt += 1 / t;
    largest = std::max(largest, x);
    one_size &= row.bytes == times.front().bytes;
  }
  const double mean_x = wx / w, mean_t = wt / w;
  double covariance = 0, variance = 0, through_origin = 0, square = 0;
  for (const LinkTime& row : times) {
    const double t = std::max(seconds(row.time.median), kNanosecond);
    const double x = static_cast<double>(row.bytes.value);
    covariance += (x - mean_x) * (t - mean_t) / (t * t);
    variance += (x - mean_x) * (x - mean_x) / (t * t);
    through_origin += x / t;
    square += x * x / (t * t);
  }
  // Of one size alone latency and bandwidth cannot be told apart: all of it is put down to
  // bandwidth.
  double slope = one_size ? 0 : covariance / variance;
  double latency = mean_t - slope * mean_x;
  if ((latency < 0 || one_size) && square > 0) {
    latency = 0;
    slope = through_origin / square;
  }
  // Times that do not grow with size: whatever the slope is, the largest message takes less than
  // the clock's nanosecond.
  if (slope * largest < kNanosecond) {
    slope = kNanosecond / largest;
    latency = mean_t;
  }
  LinkFit fit{nanoseconds(latency), BytesPerSecond(1 / slope), 0};
  for (const LinkTime& row : times) {
    const double t = std::max(seconds(row.time.median), kNanosecond);
    const double predicted = seconds(transfer_time(fit.latency, fit.bandwidth, row.bytes));
    fit.worst_relative_error = std::max(fit.worst_relative_error, std::abs(predicted - t) / t);
  }
  return fit;
}

}  // namespace penstock
