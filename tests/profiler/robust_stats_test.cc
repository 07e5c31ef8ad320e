#include "profiler/robust_stats.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

std::vector<Nanoseconds> sample(std::initializer_list<std::int64_t> values) {
  std::vector<Nanoseconds> out;
  for (const std::int64_t v : values) out.push_back(Nanoseconds(v));
  return out;
}

TEST(Spread, OfAnOddSampleHoldsTheMiddleValueWhateverTheOrder) {
  const Spread s = spread(sample({50, 10, 40, 20, 30}));
  EXPECT_EQ(s.n, 5);
  EXPECT_EQ(s.min, Nanoseconds(10));
  EXPECT_EQ(s.median, Nanoseconds(30));
  EXPECT_EQ(s.p10, Nanoseconds(14));  // between 10 and 20, four tenths of the way
  EXPECT_EQ(s.p90, Nanoseconds(46));
  EXPECT_EQ(s.mad, Nanoseconds(10));
}

TEST(Spread, OneOutlierMovesNeitherMedianNorDeviation) {
  const Spread s = spread(sample({10, 11, 12, 13, 1'000'000}));
  EXPECT_EQ(s.median, Nanoseconds(12));
  EXPECT_EQ(s.mad, Nanoseconds(1));
}

TEST(Spread, OfNothingIsZero) { EXPECT_EQ(spread({}), Spread{}); }

TEST(Settled, NeedsThreeMediansWithinTheTolerance) {
  EXPECT_FALSE(settled(sample({100, 100}), 0.02));
  EXPECT_TRUE(settled(sample({500, 100, 101, 102}), 0.02));
  EXPECT_FALSE(settled(sample({100, 101, 103}), 0.02));
}

}  // namespace
}  // namespace penstock
