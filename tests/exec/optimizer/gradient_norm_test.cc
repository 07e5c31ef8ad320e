#include "exec/optimizer/gradient_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace penstock {
namespace {

TEST(GradientNorm, SquaresOfWholeNumbersAddUpExactly) {
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<float> g(n);
    for (std::size_t i = 0; i < n; ++i) g[i] = static_cast<float>(i + 1);
    const auto k = static_cast<double>(n);
    EXPECT_EQ(squared_norm(g.data(), n), k * (k + 1) * (2 * k + 1) / 6);
  }
}

TEST(GradientNorm, TheSumDependsOnShapeAloneNotOnAlignment) {
  std::vector<float> g(1003);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(normal(i));
  const double expected = squared_norm(g.data(), g.size());
  for (std::size_t shift = 1; shift < 17; ++shift) {
    std::vector<float> moved(shift + g.size());
    std::copy(g.begin(), g.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    EXPECT_EQ(squared_norm(moved.data() + shift, g.size()), expected);
  }
}

TEST(GradientNorm, TheGlobalNormIsOverAllParameters) { EXPECT_EQ(global_norm(std::vector<double>{9, 0, 16}), 5); }

TEST(GradientNorm, ClippingLeavesSmallGradientsAndShortensLargeOnesToTheLimit) {
  EXPECT_EQ(clip_factor(0.5, 1), 1.0f);
  EXPECT_EQ(clip_factor(0, 1), 1.0f);
  EXPECT_NEAR(clip_factor(10, 2), 0.2, 1e-7);
  std::vector<float> g = {3, 4};
  scale_gradient(clip_factor(5, 1), 2, g.data());
  EXPECT_NEAR(std::sqrt(squared_norm(g.data(), 2)), 1, 1e-6);
}

TEST(GradientNorm, AFactorOfOneTouchesNothing) {
  std::vector<float> g = {-0.0f, 1e-40f};
  scale_gradient(1.0f, 2, g.data());
  EXPECT_TRUE(std::signbit(g[0]));
  EXPECT_EQ(g[1], 1e-40f);
}

}  // namespace
}  // namespace penstock
