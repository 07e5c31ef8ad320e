#include "core/layout.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::test {
namespace {

std::int64_t rounded(Bytes bytes) {
  return (bytes.value + 63) / 64 * 64;
}

// Every pair, every position: the plainest statement of what a layout must be.
void expect_sound(const std::vector<Lifetime>& lives, const Layout& layout) {
  ASSERT_EQ(layout.offsets.size(), lives.size());
  std::int64_t top = 0, live_peak = 0;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const std::int64_t begin = layout.offsets[i].value, end = begin + lives[i].bytes.value;
    ASSERT_GE(begin, 0);
    ASSERT_EQ(begin % 64, 0);
    if (lives[i].bytes.value > 0) top = std::max(top, begin + rounded(lives[i].bytes));
    std::int64_t live = 0;
    for (std::size_t k = 0; k < lives.size(); ++k) {
      if (lives[k].first <= lives[i].first && lives[i].first <= lives[k].last)
        live += rounded(lives[k].bytes);
      if (k == i || lives[k].first > lives[i].last || lives[k].last < lives[i].first) continue;
      const std::int64_t other = layout.offsets[k].value, other_end = other + lives[k].bytes.value;
      const bool empty = lives[i].bytes.value == 0 || lives[k].bytes.value == 0;
      ASSERT_TRUE(empty || end <= other || other_end <= begin) << i << " and " << k;
    }
    live_peak = std::max(live_peak, live);
  }
  EXPECT_EQ(layout.peak.value, top);
  EXPECT_EQ(layout.live_peak.value, live_peak);
  EXPECT_GE(layout.peak, layout.live_peak);
}

TEST(Layout, IsSoundForRandomLifetimes) {
  std::mt19937 random(5);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random()) % (n + 1); };
  double waste = 0;
  int layouts = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Lifetime> lives(upto(round % 4 == 0 ? 400 : 40));
    const std::uint32_t length = 1 + upto(60);
    for (Lifetime& life : lives) {
      life.first = upto(length);
      life.last = life.first + upto(length / 2);
      life.bytes = Bytes(upto(3) == 0 ? upto(100000) : upto(7) * 64);
    }
    const Layout layout = lay_out(lives);
    expect_sound(lives, layout);
    const Layout again = lay_out(lives);
    EXPECT_EQ(layout.offsets, again.offsets);
    if (lives.empty()) continue;
    waste += static_cast<double>(layout.peak.value) /
                 static_cast<double>(std::max<std::int64_t>(1, layout.live_peak.value)) -
             1;
    ++layouts;
  }
  EXPECT_LT(waste / layouts, 0.06);  // random lifetimes are far worse than those of schedules
}

TEST(Layout, WastesNothingWhereSizesAreEqual) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lives(1 + random() % 300);
    for (Lifetime& life : lives) {
      life.first = static_cast<std::uint32_t>(random() % 100);
      life.last = life.first + static_cast<std::uint32_t>(random() % 30);
      life.bytes = Bytes(1000);
    }
    const Layout layout = lay_out(lives);
    EXPECT_EQ(layout.peak, layout.live_peak);
  }
}

// Microbatch i of stage r on p ranks lives from its forward to its backward.
TEST(Layout, WastesNothingOnTheShapesOfGPipeAndOneFOneB) {
  for (std::uint32_t m : {1u, 4u, 64u}) {
    std::vector<Lifetime> gpipe, one;
    for (std::uint32_t i = 0; i < m; ++i) {
      gpipe.push_back({i, m + i, Bytes(640)});
      one.push_back({2 * i, 2 * i + 7, Bytes(640)});
    }
    EXPECT_EQ(lay_out(gpipe).peak, Bytes(640) * m);
    EXPECT_EQ(lay_out(one).peak, Bytes(640) * std::min<std::int64_t>(m, 4));
  }
}

TEST(Layout, TakesTheSmallestGapThatFits) {
  // Gaps of 192 (at 0) and 128 (at 256) are free when the last two come: 128 goes to the second,
  // then 192 to the first.
  const std::vector<Lifetime> lives = {{0, 0, Bytes(192)}, {0, 9, Bytes(65)},  {0, 0, Bytes(128)},
                                       {0, 9, Bytes(64)},  {1, 9, Bytes(128)}, {2, 9, Bytes(192)}};
  const Layout layout = lay_out(lives);
  expect_sound(lives, layout);
  EXPECT_EQ(layout.peak, layout.live_peak);
}

TEST(Layout, FreedSpaceAtTheTopIsUsedAgain) {
  const std::vector<Lifetime> lives = {{0, 9, Bytes(64)}, {0, 1, Bytes(64)}, {2, 9, Bytes(640)}};
  EXPECT_EQ(lay_out(lives).peak, Bytes(64 + 640));
}

TEST(Layout, PacksMixedSizesBetterThanInOrderOfUseAlone) {
  // In order of use 128 and 128 leave two gaps of 128 around a long-lived 64, too small each for
  // the 256 that follows.
  const std::vector<Lifetime> lives = {
      {0, 0, Bytes(128)}, {1, 1, Bytes(256)}, {0, 1, Bytes(64)}, {0, 0, Bytes(100)}};
  const Layout layout = lay_out(lives);
  expect_sound(lives, layout);
  EXPECT_EQ(layout.peak, layout.live_peak);
}

TEST(Layout, OfNothingIsNothing) {
  EXPECT_EQ(lay_out({}).peak, Bytes(0));
  const std::vector<Lifetime> empty = {{0, 5, Bytes(0)}, {2, 3, Bytes(0)}};
  EXPECT_EQ(lay_out(empty).peak, Bytes(0));
}

TEST(LayoutDeathTest, ALifetimeEndsAfterItBegins) {
  const std::vector<Lifetime> lives = {{3, 2, Bytes(64)}};
  EXPECT_DEATH(lay_out(lives), "ends before it begins");
}

}  // namespace
}  // namespace penstock::test
