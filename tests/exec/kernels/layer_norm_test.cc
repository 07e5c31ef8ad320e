#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> normalize(const Case& c, const Point& at) {
  const std::int64_t width = c.layer.output.dimensions.back();
  std::vector<double> y = at.inputs[0];
  for (auto row = y.begin(); row != y.end(); row += width) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < width; ++i) mean += row[i] / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      row[i] =
          (row[i] - mean) / std::sqrt(variance + 1e-5) * at.parameters[0][i] + at.parameters[1][i];
    }
  }
  return y;
}

}  // namespace

KindCheck layer_norm_check() {
  return {normalize,
          2e-6,
          {layer_norm_case(1, 5, 8), layer_norm_case(3, 17, 24), layer_norm_case(1, 64, 64),
           layer_norm_case(3, 5, 19), layer_norm_case(1, 1, 1), layer_norm_case(1, 2, 3),
           layer_norm_case(2, 3, 33)}};
}

namespace {

TEST(LayerNorm, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(layer_norm_check());
}

TEST(LayerNorm, OfAConstantRowIsItsBias) {
  Harness harness(layer_norm_case(1, 1, 24));
  for (int i = 0; i < 24; ++i) harness.inputs[0].floats()[i] = 3.0f;
  harness.all();
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(harness.output.floats()[i], harness.parameters[1].floats()[i]);
    EXPECT_TRUE(std::isfinite(harness.input_gradients[0].floats()[i]));
  }
}

}  // namespace
}  // namespace penstock::cpu::testing
