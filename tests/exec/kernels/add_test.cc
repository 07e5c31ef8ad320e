#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> sum(const Case&, const Point& at) {
  std::vector<double> y = at.inputs[0];
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += at.inputs[1][i];
  return y;
}

}  // namespace

KindCheck add_check() {
  return {sum,
          3e-7,
          {add_case(1, 5, 8), add_case(3, 17, 24), add_case(1, 64, 64), add_case(1, 1, 1),
           add_case(1, 3, 7), add_case(2, 1, 33)}};
}

namespace {

TEST(Add, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(add_check());
}

TEST(Add, PassesTheGradientOnInPlace) {
  Harness harness(add_case(1, 5, 7));
  const std::vector<float> gradient(harness.output_gradient.floats(),
                                    harness.output_gradient.floats() + 35);
  float* targets[] = {harness.output_gradient.floats(), harness.input_gradients[1].floats()};
  LayerOperands call = harness.operands();
  call.input_gradients = targets;
  harness.kernel().backward_input(call);
  EXPECT_EQ(std::memcmp(targets[0], gradient.data(), 35 * 4), 0);
  EXPECT_EQ(std::memcmp(targets[1], gradient.data(), 35 * 4), 0);
}

TEST(Add, OfATensorToItselfDoublesItsGradient) {
  Harness harness(add_case(1, 5, 7));
  float* twice = harness.input_gradients[0].floats();
  float* targets[] = {twice, twice};
  LayerOperands call = harness.operands();
  call.input_gradients = targets;
  harness.kernel().backward_input(call);
  for (int i = 0; i < 35; ++i) EXPECT_EQ(twice[i], 2 * harness.output_gradient.floats()[i]);
}

TEST(Add, LeavesOutTheInputThatWantsNoGradient) {
  Harness harness(add_case(1, 5, 7));
  const float before = harness.input_gradients[0].floats()[3];
  float* targets[] = {nullptr, harness.input_gradients[1].floats()};
  LayerOperands call = harness.operands();
  call.input_gradients = targets;
  harness.kernel().backward_input(call);
  EXPECT_EQ(harness.input_gradients[0].floats()[3], before);
  EXPECT_EQ(targets[1][3], harness.output_gradient.floats()[3]);
}

}  // namespace
}  // namespace penstock::cpu::testing
