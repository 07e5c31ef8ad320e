#include "exec/cpu/math/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace penstock::cpu {
namespace {

float wide(std::uint16_t x) {
  float y = 0;
  widen(&x, 1, &y);
  return y;
}
std::uint16_t narrow(float x) {
  std::uint16_t y = 0;
  round_to_bf16(&x, 1, &y);
  return y;
}

TEST(Bf16, EveryValueSurvivesBeingWidened) {
  std::vector<std::uint16_t> all(65536), back(65536);
  std::vector<float> floats(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  widen(all.data(), 65536, floats.data());
  round_to_bf16(floats.data(), 65536, back.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(floats[i])) {
      EXPECT_TRUE(std::isnan(wide(back[i]))) << i;
    } else {
      EXPECT_EQ(back[i], all[i]);
    }
  }
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  std::mt19937 random(3);
  for (int i = 0; i < 200'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(x)) continue;
    const std::uint16_t y = narrow(x);
    if (!std::isfinite(wide(y))) {
      // Beyond half a unit above the largest finite one.
      EXPECT_GE(std::abs(x), 0x1.ffp127f);
      continue;
    }
    const double error = std::abs(static_cast<double>(wide(y)) - x);
    for (const int step : {-1, 1}) {
      const float other = wide(static_cast<std::uint16_t>(y + step));
      if (!std::isfinite(other) || std::signbit(other) != std::signbit(x)) continue;
      const double distance = std::abs(static_cast<double>(other) - x);
      EXPECT_LE(error, distance) << x;
      if (error == distance) {
        EXPECT_EQ(y % 2, 0) << x;
      }
    }
  }
  EXPECT_EQ(narrow(std::numeric_limits<float>::max()), 0x7f80);  // up to infinity
  EXPECT_EQ(narrow(-0.0f), 0x8000);
  EXPECT_TRUE(std::isnan(wide(narrow(std::bit_cast<float>(0x7f800001u)))));  // not to infinity
}

TEST(Bf16, ASumIsRoundedOnce) {
  const std::uint16_t x = narrow(3), two = narrow(256);
  std::uint16_t sum = two;
  add_bf16(&x, 1, &sum);
  EXPECT_EQ(wide(sum), 260.0f);  // 259 lies between 258 and 260, which is even
}

}  // namespace
}  // namespace penstock::cpu
