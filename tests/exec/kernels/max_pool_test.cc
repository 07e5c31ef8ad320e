#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> pool(const Case& c, const Point& at) {
  const auto &in = c.inputs[0].dimensions, &out = c.layer.output.dimensions;
  const std::int64_t kernel = c.layer.attribute("kernel"), stride = c.layer.attribute("stride"),
                     padding = c.layer.attribute("padding");
  std::vector<double> y;
  for (std::int64_t row = 0; row < c.microbatch * out[0] * out[1]; ++row) {
    const double* plane = at.inputs[0].data() + row / out[1] * in[1] * in[2];
    for (std::int64_t j = 0; j < out[2]; ++j) {
      double best = -INFINITY;
      for (std::int64_t tap = 0; tap < kernel * kernel; ++tap) {
        const std::int64_t y_in = row % out[1] * stride + tap / kernel - padding;
        const std::int64_t x_in = j * stride + tap % kernel - padding;
        if (y_in < 0 || y_in >= in[1] || x_in < 0 || x_in >= in[2]) continue;
        best = std::max(best, plane[y_in * in[2] + x_in]);
      }
      y.push_back(best);
    }
  }
  return y;
}

}  // namespace

KindCheck max_pool_check() {
  return {pool,
          1e-6,
          {max_pool_case(1, {1, 1, 1}, {1, 1, 0}), max_pool_case(3, {5, 9, 7}, {3, 2, 1}),
           max_pool_case(2, {17, 8, 8}, {2, 2, 0}), max_pool_case(1, {3, 11, 40}, {3, 1, 1}),
           max_pool_case(4, {2, 5, 6}, {7, 2, 3}), max_pool_case(1, {2, 10, 9}, {2, 3, 0}),
           max_pool_case(1, {2, 3, 3}, {5, 1, 4}), max_pool_case(1, {3, 4, 5}, {2, 1, 0}),
           max_pool_case(1, {19, 5, 4}, {2, 3, 1}), max_pool_case(2, {1, 1, 1}, {3, 2, 1}),
           max_pool_case(1, {3, 9, 7}, {5, 3, 2})}};
}

namespace {

TEST(MaxPool, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(max_pool_check());
}

TEST(MaxPool, GivesTheGradientOfATieToTheFirst) {
  Harness harness(max_pool_case(1, {1, 2, 4}, {2, 2, 0}));
  const float x[] = {1, 3, -5, -5,  //
                     3, 3, -5, -5};
  std::memcpy(harness.inputs[0].floats(), x, sizeof x);
  harness.all();
  const float *dx = harness.input_gradients[0].floats(), *dy = harness.output_gradient.floats();
  const float want[] = {0, dy[0], dy[1], 0, 0, 0, 0, 0};
  EXPECT_EQ(std::memcmp(dx, want, sizeof want), 0);
}

TEST(MaxPool, NeverLetsPaddingWin) {
  Harness harness(max_pool_case(1, {1, 3, 3}, {3, 2, 1}));
  for (int i = 0; i < 9; ++i) harness.inputs[0].floats()[i] = -INFINITY;
  harness.inputs[0].floats()[0] = -7.0f;
  harness.all();
  EXPECT_EQ(harness.output.floats()[0], -7.0f);
  EXPECT_EQ(harness.output.floats()[3], -INFINITY);
  // The window of the last output begins at pixel (1, 1): its gradient must stay inside the image.
  EXPECT_EQ(harness.input_gradients[0].floats()[4], harness.output_gradient.floats()[3]);
}

TEST(MaxPool, HidesNoNotANumber) {
  Harness harness(max_pool_case(1, {1, 2, 2}, {2, 2, 0}));
  const float x[] = {1, NAN, 5, 2};
  std::memcpy(harness.inputs[0].floats(), x, sizeof x);
  harness.forward();
  EXPECT_TRUE(std::isnan(harness.output.floats()[0]));
}

TEST(MaxPool, AddsUpTheGradientsOfWindowsThatShareAPixel) {
  Harness wide(max_pool_case(1, {1, 2, 3}, {2, 1, 0}));
  const float x[] = {0, 9, 0, 0, 0, 0};
  std::memcpy(wide.inputs[0].floats(), x, sizeof x);
  wide.all();
  EXPECT_EQ(wide.input_gradients[0].floats()[1],
            wide.output_gradient.floats()[0] + wide.output_gradient.floats()[1]);
}

}  // namespace
}  // namespace penstock::cpu::testing
