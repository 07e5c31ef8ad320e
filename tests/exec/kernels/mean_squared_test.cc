#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> loss(const Case& c, const Point& at) {
  double sum = 0;
  for (std::size_t i = 0; i < at.data[0].size(); ++i) {
    const double error = at.inputs[0][i] - at.data[0][i] / 255.0;
    sum += error * error;
  }
  return {sum / static_cast<double>(c.rows_in_step * c.inputs[0].elements())};
}

}  // namespace

KindCheck mean_squared_check() {
  return {loss,
          1e-6,
          {mean_squared_case(1, 5), mean_squared_case(3, 17), mean_squared_case(1, 64 * 24),
           mean_squared_case(1, 1), mean_squared_case(2, 33)}};
}

namespace {

TEST(MeanSquared, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(mean_squared_check());
}

TEST(MeanSquared, ScalesTargetBytesToTheUnitInterval) {
  Case c = mean_squared_case(1, 2);
  c.rows_in_step = 1;
  Harness harness(c);
  harness.data[0].octets()[0] = 0;
  harness.data[0].octets()[1] = 255;
  harness.inputs[0].floats()[0] = 0.0f;
  harness.inputs[0].floats()[1] = 3.0f;
  harness.all();
  EXPECT_EQ(harness.loss, 2.0);  // ((0 - 0)² + (3 - 1)²) / 2
  EXPECT_EQ(harness.input_gradients[0].floats()[0], 0.0f);
  EXPECT_EQ(harness.input_gradients[0].floats()[1], 2.0f);
}

}  // namespace
}  // namespace penstock::cpu::testing
