#include "profiler/fit_layers.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

LayerTime row(std::int64_t microbatch, std::int64_t ns, CostOp op = CostOp::F) {
  LayerTime out{.signature = "layer", .op = op, .microbatch = microbatch};
  out.time.median = Nanoseconds(ns);
  return out;
}

TEST(FitLayers, FindsTheLineThatTimesLieOn) {
  const auto fits = fit_layers({row(8, 10'800), row(1, 3'800), row(2, 4'800), row(4, 6'800)});
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_NEAR(fits[0].base_s, 2.8e-6, 1e-12);
  EXPECT_NEAR(fits[0].per_sample_s, 1e-6, 1e-12);
  EXPECT_LT(fits[0].worst_relative_error, 1e-6);
  EXPECT_EQ(fits[0].least, 1);
  EXPECT_EQ(fits[0].most, 8);
}

TEST(FitLayers, NeverHasABaseBelowZeroAndSaysHowFarItIsOff) {
  const auto fits = fit_layers({row(1, 1'000), row(2, 4'000), row(4, 16'000)});
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_EQ(fits[0].base_s, 0);
  EXPECT_GT(fits[0].per_sample_s, 0);
  EXPECT_GT(fits[0].worst_relative_error, 0.3);
}

TEST(FitLayers, WantsThreeSizesAndLeavesUpdatesOut) {
  EXPECT_TRUE(fit_layers({row(1, 1'000), row(2, 2'000), row(0, 5'000, CostOp::Step)}).empty());
}

}  // namespace
}  // namespace penstock
