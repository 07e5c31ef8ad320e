#include <gtest/gtest.h>

#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> repeat(const Case& c, const Point& at) {
  const auto &in = c.inputs[0].dimensions, &out = c.layer.output.dimensions;
  const std::int64_t factor = c.layer.attribute("factor");
  std::vector<double> y;
  for (std::int64_t row = 0; row < c.microbatch * out[0] * out[1]; ++row) {
    const std::int64_t plane = row / out[1], from = row % out[1] / factor;
    for (std::int64_t j = 0; j < out[2]; ++j)
      y.push_back(at.inputs[0][(plane * in[1] + from) * in[2] + j / factor]);
  }
  return y;
}

}  // namespace

KindCheck upsample_check() {
  return {repeat,
          1e-6,
          {upsample_case(1, {1, 1, 1}, 1), upsample_case(2, {3, 5, 7}, 2),
           upsample_case(3, {2, 4, 3}, 3), upsample_case(1, {1, 3, 1}, 2),
           upsample_case(1, {2, 1, 3}, 5), upsample_case(2, {3, 3, 2}, 4)}};
}

namespace {

TEST(Upsample, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(upsample_check());
}

TEST(Upsample, AddsTheGradientsOfASquareRowByRow) {
  Harness harness(upsample_case(1, {1, 1, 1}, 2));
  const float dy[] = {1.0f, 1e8f, 3.0f, -1e8f};
  std::memcpy(harness.output_gradient.floats(), dy, sizeof dy);
  harness.backward_input();
  EXPECT_EQ(harness.input_gradients[0].floats()[0], ((1.0f + 1e8f) + 3.0f) + -1e8f);
}

}  // namespace
}  // namespace penstock::cpu::testing
