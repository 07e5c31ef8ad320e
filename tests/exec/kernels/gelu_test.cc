#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> gelu(const Case&, const Point& at) {
  std::vector<double> y = at.inputs[0];
  for (double& x : y)
    x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return y;
}

}  // namespace

KindCheck gelu_check() {
  return {gelu,
          5e-7,
          {gelu_case(1, 5, 8), gelu_case(3, 17, 24), gelu_case(1, 64, 64), gelu_case(1, 1, 1),
           gelu_case(1, 3, 7), gelu_case(2, 5, 33)}};
}

namespace {

TEST(Gelu, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(gelu_check());
}

TEST(Gelu, IsTheIdentityFarRightAndZeroFarLeft) {
  Harness harness(gelu_case(1, 1, 4));
  const float x[] = {30.0f, -30.0f, 1e10f, -1e10f};
  std::memcpy(harness.inputs[0].floats(), x, sizeof x);
  for (int i = 0; i < 4; ++i) harness.output_gradient.floats()[i] = 1.0f;
  harness.all();
  const float* y = harness.output.floats();
  const float* slope = harness.input_gradients[0].floats();
  EXPECT_EQ(y[0], 30.0f);
  EXPECT_NEAR(y[1], 0.0f, 1e-30f);
  EXPECT_EQ(y[2], 1e10f);
  EXPECT_NEAR(y[3], 0.0f, 1e-25f);
  EXPECT_EQ(slope[0], 1.0f);
  EXPECT_NEAR(slope[1], 0.0f, 1e-30f);
  EXPECT_NEAR(slope[2], 1.0f, 1e-6f);
  EXPECT_NEAR(slope[3], 0.0f, 1e-6f);
}

}  // namespace
}  // namespace penstock::cpu::testing
