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

namespace {
// So many latencies, one after the other; kForever where that is more.
Nanoseconds in_turn(std::int64_t messages, Nanoseconds latency) {
  if (messages > 0 && latency.value > kForever.value / messages) return kForever;
  return messages * latency;
}
}  // namespace

Bytes ring_volume(std::int32_t members, Bytes bytes) {
  // Rounded up by rounding down what is left out: the product would not fit for large sizes.
  return Bytes(2 * bytes.value - 2 * bytes.value / members);
}

Nanoseconds ring_all_reduce(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth,
                            Bytes bytes) {
  return transfer_time(in_turn(2 * (std::int64_t{members} - 1), latency), bandwidth,
                       ring_volume(members, bytes));
}

Nanoseconds ring_gather(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth,
                        Bytes bytes) {
  return transfer_time(in_turn(members - 1, latency), bandwidth,
                       Bytes(bytes.value - bytes.value / members));
}

std::vector<Nanoseconds> collective_ends(std::span<const Nanoseconds> ready,
                                         std::span<const Nanoseconds> durations) {
  std::vector<Nanoseconds> ends;
  Nanoseconds free;
  for (std::size_t k = 0; k < ready.size(); ++k) {
    free = std::min(std::max(ready[k], free) + durations[k], kForever);
    ends.push_back(free);
  }
  return ends;
}

}  // namespace penstock
