#include <gtest/gtest.h>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> join(const Case& c, const Point& at) {
  std::vector<double> y;
  for (std::int64_t s = 0; s < c.microbatch; ++s) {
    for (std::size_t i = 0; i < at.inputs.size(); ++i) {
      const auto size = static_cast<std::ptrdiff_t>(c.inputs[i].elements());
      y.insert(y.end(), at.inputs[i].begin() + s * size, at.inputs[i].begin() + (s + 1) * size);
    }
  }
  return y;
}

}  // namespace

KindCheck concat_check() {
  return {join,
          1e-6,
          {concat_case(1, {1, 1}, 1, 1), concat_case(3, {5, 17, 2}, 3, 4),
           concat_case(2, {8, 8}, 5, 5), concat_case(1, {7, 19}, 3, 1),
           concat_case(2, {1, 2, 3, 5}, 1, 17)}};
}

namespace {

TEST(Concat, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(concat_check());
}

TEST(Concat, LeavesOutTheInputThatWantsNoGradient) {
  Harness harness(concat_case(2, {2, 1, 3}, 2, 2));
  const float before = harness.input_gradients[1].floats()[3];
  float* targets[] = {harness.input_gradients[0].floats(), nullptr,
                      harness.input_gradients[2].floats()};
  LayerOperands call = harness.operands();
  call.input_gradients = targets;
  harness.kernel().backward_input(call);
  EXPECT_EQ(harness.input_gradients[1].floats()[3], before);
  // The second sample's part of the third input: after 6 channels, 3 of the second sample.
  EXPECT_EQ(targets[2][12], harness.output_gradient.floats()[24 + 12]);
}

TEST(Concat, RefusesASingleInputAndImagesOfDifferentSizes) {
  const auto refused = [](const Case& c) {
    const auto made = make_kernel(c.layer, c.inputs, c.microbatch, c.rows_in_step);
    return made ? "" : made.error().message;
  };
  EXPECT_NE(refused(concat_case(1, {4}, 2, 2)).find("1 inputs"), std::string::npos);
  Case sizes = concat_case(1, {4, 4}, 2, 2);
  sizes.inputs[1].dimensions[2] = 3;
  EXPECT_NE(refused(sizes).find("different sizes"), std::string::npos);
}

}  // namespace
}  // namespace penstock::cpu::testing
