#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> linear(const Case& c, const Point& at) {
  const std::int64_t in = c.inputs[0].dimensions.back(), out = c.layer.output.dimensions.back();
  const std::int64_t rows = static_cast<std::int64_t>(at.inputs[0].size()) / in;
  std::vector<double> y;
  for (std::int64_t row = 0; row < rows; ++row) {
    y.insert(y.end(), at.parameters[1].begin(), at.parameters[1].end());
    for (std::int64_t k = 0; k < in; ++k) {
      for (std::int64_t j = 0; j < out; ++j)
        y[row * out + j] += at.inputs[0][row * in + k] * at.parameters[0][k * out + j];
    }
  }
  return y;
}

}  // namespace

KindCheck linear_check() {
  return {linear,
          2e-6,
          {linear_case(1, 5, 8, 24), linear_case(3, 17, 24, 8), linear_case(1, 64, 64, 192),
           linear_case(3, 1, 7, 5), linear_case(1, 1, 1, 1), linear_case(1, 3, 1, 7),
           linear_case(2, 5, 33, 1), linear_case(2, 3, 17, 31)}};
}

namespace {

TEST(Linear, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(linear_check());
}

TEST(Linear, AddsTheBiasGradientRowByRow) {
  Harness harness(linear_case(1, 4, 2, 1));
  const float gradient[] = {1.0f, 1e8f, 3.0f, -1e8f};
  std::memcpy(harness.output_gradient.floats(), gradient, sizeof gradient);
  harness.parameter_gradients[1].floats()[0] = 0;
  harness.backward_weight();
  EXPECT_EQ(harness.parameter_gradients[1].floats()[0], ((1.0f + 1e8f) + 3.0f) + -1e8f);
}

TEST(Linear, DoesNotReadTheInputGradientItOverwrites) {
  Harness harness(linear_case(1, 5, 8, 24));
  for (int i = 0; i < 40; ++i) harness.input_gradients[0].floats()[i] = NAN;
  harness.backward_input();
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(std::isfinite(harness.input_gradients[0].floats()[i]));
}

}  // namespace
}  // namespace penstock::cpu::testing
