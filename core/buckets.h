#pragma once

// Gradients in buckets, so that replicas add up those of the last layers while the first layers' are still being computed.
// The rule is that of PyTorch DDP (Li et al., VLDB 2020, section 3.2.3 and 4.2, and its reducer's constants): tensors are put
// into a bucket until its size reaches the limit, so that a bucket may exceed it by one tensor; the first bucket has a limit
// of its own, small, so that something is on its way soon. Buckets are launched in the order of their numbers.
//
// DDP fills buckets twice: before the first iteration in the order of declaration, launching the last bucket first; then in
// the order in which gradients were seen to become ready. A program knows that order beforehand and uses the second.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/units.h"

namespace penstock {

struct BucketLimits {
  Bytes first{std::int64_t{1} << 20};
  Bytes rest{std::int64_t{25} << 20};

  bool operator==(const BucketLimits&) const = default;
};

// Tensors by number; the buckets in the order in which they are launched.
using Buckets = std::vector<std::vector<std::int32_t>>;

// Before the first iteration: buckets of tensors in the order of declaration, the last bucket launched first. O(tensors).
Buckets initial_buckets(std::span<const Bytes> sizes, BucketLimits limits);
// Of tensors in the order in which their gradients become ready, launched in that order. O(tensors).
Buckets ready_buckets(std::span<const Bytes> sizes, std::span<const std::int32_t> ready, BucketLimits limits);

// No more than `most` buckets (1 or more): where there are more, neighbours are put together, as evenly as can be, in the order
// of their numbers. Seven buckets, at most three: {0, 1, 2}, {3, 4}, {5, 6}. O(tensors).
Buckets merged(Buckets buckets, std::size_t most);

// Bytes that each of `members` ranks of a ring sends, and receives, to have `bytes` added up on all of them:
// 2(n − 1)/n · bytes, rounded up.
Bytes ring_volume(std::int32_t members, Bytes bytes);
// That volume over the slowest hop, in 2(n − 1) messages, one after the other.
Nanoseconds ring_all_reduce(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth, Bytes bytes);
// Bytes that lie in equal shares on n ranks, until all have all: n − 1 messages of (n − 1)/n · bytes together.
Nanoseconds ring_gather(std::int32_t members, Nanoseconds latency, BytesPerSecond bandwidth, Bytes bytes);

// When collectives that are launched in order end: each starts once it is ready and the one before is over. O(collectives).
std::vector<Nanoseconds> collective_ends(std::span<const Nanoseconds> ready, std::span<const Nanoseconds> durations);

}  // namespace penstock
