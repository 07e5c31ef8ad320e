#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> positive(const Case&, const Point& at) {
  std::vector<double> y = at.inputs[0];
  for (double& value : y) value = std::max(value, 0.0);
  return y;
}

}  // namespace

KindCheck relu_check() {
  return {positive,
          1e-6,
          {relu_case(1, {1, 1, 1}), relu_case(3, {17, 5, 3}), relu_case(2, {8, 9, 9}),
           relu_case(1, {1, 3, 7}), relu_case(2, {3, 11, 1})}};
}

namespace {

TEST(Relu, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(relu_check());
}

TEST(Relu, HasNoGradientAtZeroAndHidesNoNotANumber) {
  Harness harness(relu_case(1, {1, 1, 3}));
  const float x[] = {0.0f, NAN, 2.0f};
  std::memcpy(harness.inputs[0].floats(), x, sizeof x);
  harness.all();
  EXPECT_EQ(harness.output.floats()[0], 0.0f);
  EXPECT_TRUE(std::isnan(harness.output.floats()[1]));
  EXPECT_EQ(harness.output.floats()[2], 2.0f);
  EXPECT_EQ(harness.input_gradients[0].floats()[0], 0.0f);
  EXPECT_EQ(harness.input_gradients[0].floats()[2], harness.output_gradient.floats()[2]);
}

}  // namespace
}  // namespace penstock::cpu::testing
