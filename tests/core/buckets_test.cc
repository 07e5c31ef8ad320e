#include "core/buckets.h"

#include <gtest/gtest.h>

#include <numeric>

namespace penstock {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Six layers of one tensor each, sizes in quarters of a MiB, in forward order.
const std::vector<Bytes> kSizes = {Bytes(4 * kMiB), Bytes(10 * kMiB), Bytes(12 * kMiB),
                                   Bytes(kMiB / 2), Bytes(8 * kMiB), Bytes(kMiB / 4)};
const std::vector<std::int32_t> kReady = {5, 4, 3, 2, 1, 0};

Bytes size_of(const std::vector<std::int32_t>& bucket) {
  Bytes sum;
  for (const std::int32_t tensor : bucket) sum += kSizes[static_cast<std::size_t>(tensor)];
  return sum;
}

TEST(Buckets, BeforeTheFirstIterationTheSmallLimitFallsOnTheFirstLayersWhichAreLaunchedLast) {
  const Buckets buckets = initial_buckets(kSizes, {});
  EXPECT_EQ(buckets, (Buckets{{5}, {1, 2, 3, 4}, {0}}));
  EXPECT_EQ(size_of(buckets[1]).value, 61 * kMiB / 2);
}

TEST(Buckets, RebuiltInReadyOrderTheSmallBucketIsLaunchedFirst) {
  const Buckets buckets = ready_buckets(kSizes, kReady, {});
  EXPECT_EQ(buckets, (Buckets{{5, 4}, {3, 2, 1, 0}}));
  EXPECT_EQ(size_of(buckets[0]).value, 33 * kMiB / 4);
  EXPECT_EQ(size_of(buckets[1]).value, 53 * kMiB / 2);
}

TEST(Buckets, NeighboursAreMergedDownToANumber) {
  const Buckets seven = {{9, 8}, {7}, {6}, {5}, {4}, {3, 2}, {1}};
  EXPECT_EQ(merged(seven, 3), (Buckets{{9, 8, 7, 6}, {5, 4}, {3, 2, 1}}));
  EXPECT_EQ(merged(seven, 1), (Buckets{{9, 8, 7, 6, 5, 4, 3, 2, 1}}));
  EXPECT_EQ(merged(seven, 7), seven);
  EXPECT_EQ(merged(seven, 256), seven);
}

// Each layer's backward takes 2 ms, 4 ranks, 10 GB/s, 50 µs a collective.
Nanoseconds end_of(const Buckets& buckets) {
  std::vector<Nanoseconds> ready, durations;
  for (const std::vector<std::int32_t>& bucket : buckets) {
    const std::int32_t last = *std::min_element(bucket.begin(), bucket.end());
    ready.push_back(Nanoseconds(2'000'000) * (6 - last));
    durations.push_back(transfer_time(Nanoseconds(50'000), BytesPerSecond(10e9),
                                      ring_volume(4, size_of(bucket))));
  }
  return collective_ends(ready, durations).back();
}

TEST(Buckets, WhatTheLastAllReduceIsLateByDependsOnTheirSize) {
  EXPECT_NEAR(seconds(end_of(ready_buckets(kSizes, kReady, {}))), 16.2181e-3, 5e-8);
  const BucketLimits one_a_tensor{Bytes(1), Bytes(1)};
  EXPECT_NEAR(seconds(end_of(ready_buckets(kSizes, kReady, one_a_tensor))), 12.6791e-3, 5e-8);
  const BucketLimits small{Bytes(1'000'000), Bytes(5'000'000)};
  EXPECT_NEAR(seconds(end_of(ready_buckets(kSizes, kReady, small))), 12.6791e-3, 5e-8);
  // One after the other, behind the backward: 12 ms and all of them.
  Nanoseconds apart(12'000'000);
  for (const auto& bucket : ready_buckets(kSizes, kReady, {}))
    apart += transfer_time(Nanoseconds(50'000), BytesPerSecond(10e9), ring_volume(4, size_of(bucket)));
  EXPECT_NEAR(seconds(apart), 17.5657e-3, 5e-8);
}

TEST(Buckets, ACollectiveThatIsReadyWaitsForThoseBeforeIt) {
  // Bucket 1 is ready at 1, bucket 0 at 5: nothing is launched before 5, and 1 after 0.
  const std::vector<Nanoseconds> ready = {Nanoseconds(5), Nanoseconds(1)},
                                 durations = {Nanoseconds(3), Nanoseconds(2)};
  EXPECT_EQ(collective_ends(ready, durations),
            (std::vector<Nanoseconds>{Nanoseconds(8), Nanoseconds(10)}));
}

TEST(Buckets, ARingSendsTwiceAllButOneShareOfTheBytes) {
  EXPECT_EQ(ring_volume(8, Bytes(102'228'128)).value, 178'899'224);
  EXPECT_NEAR(178'899'224 / 1.25e9, 0.1431, 5e-5);
  EXPECT_EQ(ring_volume(1, Bytes(1000)).value, 0);
  EXPECT_EQ(ring_all_reduce(2, Nanoseconds(10), BytesPerSecond(1e9), Bytes(1000)).value, 1020);
  EXPECT_EQ(ring_gather(4, Nanoseconds(10), BytesPerSecond(1e9), Bytes(1000)).value, 780);
}

TEST(Buckets, RingsOfHugeFiguresStayWithinForever) {
  const Bytes bytes(std::int64_t{1} << 56);
  EXPECT_EQ(ring_volume(4096, bytes).value, 2 * bytes.value - 2 * (bytes.value / 4096));
  EXPECT_EQ(ring_all_reduce(65536, kLongestTime, BytesPerSecond(1e9), bytes), kForever);
  EXPECT_EQ(ring_gather(65536, kLongestTime, BytesPerSecond(1e9), bytes), kForever);
  const std::vector<Nanoseconds> ready(8), durations(8, kForever);
  EXPECT_EQ(collective_ends(ready, durations).back(), kForever);
}

TEST(Buckets, HoldEveryTensorOnceAndNoneOutgrowsItsLimitByMoreThanOne) {
  std::vector<Bytes> sizes;
  for (std::int64_t i = 0; i < 200; ++i) sizes.push_back(Bytes(1 + i * i * 7919 % 4'000'000));
  std::vector<std::int32_t> ready(sizes.size());
  std::iota(ready.rbegin(), ready.rend(), 0);
  const BucketLimits limits{Bytes(kMiB), Bytes(5 * kMiB)};
  std::vector<std::int32_t> seen;
  const Buckets buckets = ready_buckets(sizes, ready, limits);
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    Bytes size;
    for (const std::int32_t tensor : buckets[b]) {
      EXPECT_LT(size, b == 0 ? limits.first : limits.rest);
      size += sizes[static_cast<std::size_t>(tensor)];
      seen.push_back(tensor);
    }
    if (b + 1 < buckets.size()) {
      EXPECT_GE(size, b == 0 ? limits.first : limits.rest);
    }
  }
  EXPECT_EQ(seen, ready);
}

}  // namespace
}  // namespace penstock
