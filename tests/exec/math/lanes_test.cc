#include "exec/cpu/math/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace penstock::cpu {
namespace {

std::vector<float> ramp(float from, float to, std::int64_t n) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(from + (to - from) * static_cast<float>(i) / static_cast<float>(n));
  return x;
}

TEST(Exponential, IsWithinTwoUnitsInTheLastPlace) {
  for (float x : ramp(-87, 87, 200000)) {
    const double exact = std::exp(static_cast<double>(x));
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    ASSERT_LE(std::abs(exponential(x) - exact), 2 * unit) << x;
  }
  EXPECT_EQ(exponential(0.0f), 1.0f);
}

TEST(Exponential, HoldsItsEndsAndKeepsNotANumber) {
  EXPECT_EQ(exponential(-1e30f), exponential(-87.0f));
  EXPECT_EQ(exponential(INFINITY), exponential(87.0f));
  EXPECT_TRUE(std::isnormal(exponential(-INFINITY)));
  EXPECT_TRUE(std::isnan(exponential(NAN)));
}

TEST(LaneSum, AddsInTheWrittenOrder) {
  // n = 18: only lanes 0 and 1 have two terms; 1e8 swallows a unit, so the order shows.
  std::vector<float> x(18, 0.0f);
  x[0] = 1e8f, x[16] = 3.0f, x[8] = -1e8f, x[1] = 1.0f, x[17] = 2.0f;
  const float lane0 = x[0] + x[16];
  const float folded0 = lane0 + x[8];
  EXPECT_EQ(lane_sum(18, [&](std::int64_t i) { return x[i]; }), folded0 + (x[1] + x[17]));
  EXPECT_EQ(lane_sum(0, [&](std::int64_t i) { return x[i]; }), 0.0f);
}

TEST(LaneMax, FindsTheLargestOfEveryLength) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    for (std::int64_t at = 0; at < n; ++at) {
      std::vector<float> x(n, -5.0f);
      x[at] = -1.0f;
      ASSERT_EQ(lane_max(x.data(), n), -1.0f);
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
// The same source for three instruction sets: what PENSTOCK_CLONES makes of a kernel.
#define PENSTOCK_TEST_BODY                                                  \
  {                                                                         \
    for (std::int64_t i = 0; i < n; ++i) y[i] = exponential(x[i]);          \
    return lane_sum(n, [&](std::int64_t i) { return y[i] * 0.3f + x[i]; }); \
  }
float plain(const float* __restrict x, std::int64_t n, float* __restrict y) PENSTOCK_TEST_BODY
    __attribute__((target("avx2,fma"))) float avx2(const float* __restrict x, std::int64_t n,
                                                   float* __restrict y) PENSTOCK_TEST_BODY
    __attribute__((target("avx512f"))) float avx512(const float* __restrict x, std::int64_t n,
                                                    float* __restrict y) PENSTOCK_TEST_BODY

    TEST(Lanes, HaveTheSameBitsOnEveryInstructionSet) {
  const std::vector<float> x = ramp(-20, 20, 4099);
  std::vector<float> y(x.size()), wide(x.size());
  const std::int64_t n = static_cast<std::int64_t>(x.size());
  const float sum = plain(x.data(), n, y.data());
  int compared = 0;
  const auto compare = [&](bool supported, auto function) {
    if (!supported) return;
    ++compared;
    EXPECT_EQ(function(x.data(), n, wide.data()), sum);
    EXPECT_EQ(std::memcmp(y.data(), wide.data(), y.size() * sizeof(float)), 0);
  };
  compare(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), avx2);
  compare(__builtin_cpu_supports("avx512f"), avx512);
  if (compared == 0) GTEST_SKIP() << "this CPU has neither AVX2 nor AVX-512";
}
#endif

}  // namespace
}  // namespace penstock::cpu
