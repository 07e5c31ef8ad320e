#include "exec/memory_meter.h"

#include <algorithm>

#include "core/result.h"

namespace penstock {

bool MemoryMeter::acquire(Bytes offset, Bytes bytes) {
  if (bytes.value == 0) return true;
  const Range range{offset.value, offset.value + bytes.value};
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), range,
                                      [](const Range& a, const Range& b) { return a.begin < b.begin; });
  if (after != ranges_.end() && after->begin < range.end) return false;
  if (after != ranges_.begin() && std::prev(after)->end > range.begin) return false;
  ranges_.insert(after, range);
  live_ += align_up(bytes, kTensorAlignment);
  live_peak_ = std::max(live_peak_, live_);
  highest_end_ = std::max(highest_end_, Bytes(range.end));
  return true;
}

void MemoryMeter::release(Bytes offset, Bytes bytes) {
  if (bytes.value == 0) return;
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), offset.value,
                                   [](const Range& a, std::int64_t begin) { return a.begin < begin; });
  PENSTOCK_CHECK(at != ranges_.end() && at->begin == offset.value, "a buffer is released that was never acquired");
  ranges_.erase(at);
  live_ -= align_up(bytes, kTensorAlignment);
}

}  // namespace penstock
