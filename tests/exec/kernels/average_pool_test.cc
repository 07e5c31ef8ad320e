#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> average(const Case& c, const Point& at) {
  const auto& in = c.inputs[0].dimensions;
  const std::int64_t pixels = in[1] * in[2];
  std::vector<double> y(static_cast<std::size_t>(c.microbatch * in[0]), 0.0);
  for (std::size_t i = 0; i < at.inputs[0].size(); ++i)
    y[i / pixels] += at.inputs[0][i] / static_cast<double>(pixels);
  return y;
}

}  // namespace

KindCheck average_pool_check() {
  return {average,
          1e-6,
          {average_pool_case(1, {1, 1, 1}), average_pool_case(3, {17, 7, 7}),
           average_pool_case(2, {5, 4, 9}), average_pool_case(1, {19, 1, 3}),
           average_pool_case(2, {3, 31, 1})}};
}

namespace {

TEST(AveragePool, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(average_pool_check());
}

TEST(AveragePool, OfAConstantIsThatConstant) {
  Harness harness(average_pool_case(1, {2, 7, 7}));
  for (std::int64_t i = 0; i < 98; ++i) harness.inputs[0].floats()[i] = 0.1f;
  harness.forward();
  EXPECT_EQ(harness.output.floats()[0], 0.1f);
  EXPECT_EQ(harness.output.floats()[1], 0.1f);
}

}  // namespace
}  // namespace penstock::cpu::testing
