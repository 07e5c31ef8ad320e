#include "core/buckets.h"

#include <algorithm>
#include <numeric>

namespace penstock {

Buckets ready_buckets(std::span<const Bytes> sizes, std::span<const std::int32_t> ready,
                      BucketLimits limits) {
  Buckets buckets;
  Bytes size, limit = limits.first;
  bool is_open = false;
  for (const std::int32_t tensor : ready) {
    if (!is_open) buckets.emplace_back();
    is_open = true;
    buckets.back().push_back(tensor);
    size += sizes[static_cast<std::size_t>(tensor)];
    if (size < limit) continue;
    size = Bytes(0);
    limit = limits.rest;
    is_open = false;
  }
  return buckets;
}

Buckets initial_buckets(std::span<const Bytes> sizes, BucketLimits limits) {
  std::vector<std::int32_t> declared(sizes.size());
  std::iota(declared.begin(), declared.end(), 0);
  Buckets buckets = ready_buckets(sizes, declared, limits);
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

Buckets merged(Buckets buckets, std::size_t most) {
  const std::size_t count = buckets.size();
  if (count <= most) return buckets;
  Buckets out(most);
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<std::int32_t>& to = out[k * most / count];
    to.insert(to.end(), buckets[k].begin(), buckets[k].end());
  }
  return out;
}

Bytes ring_volume(std::int32_t members, Bytes bytes) {
  const std::int64_t n = members;
  return Bytes((2 * (n - 1) * bytes.value + n - 1) / n);
}

Nanoseconds ring_all_reduce(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth,
                            Bytes bytes) {
  return transfer_time(2 * (members - 1) * latency, bandwidth, ring_volume(members, bytes));
}

Nanoseconds ring_gather(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth,
                        Bytes bytes) {
  const std::int64_t n = members;
  return transfer_time((n - 1) * latency, bandwidth,
                       Bytes(((n - 1) * bytes.value + n - 1) / n));
}

std::vector<Nanoseconds> collective_ends(std::span<const Nanoseconds> ready,
                                         std::span<const Nanoseconds> durations) {
  std::vector<Nanoseconds> ends;
  Nanoseconds free;
  for (std::size_t k = 0; k < ready.size(); ++k) {
    free = std::max(ready[k], free) + durations[k];
    ends.push_back(free);
  }
  return ends;
}

}  // namespace penstock
