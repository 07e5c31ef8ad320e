#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

std::vector<double> loss(const Case& c, const Point& at) {
  const std::int64_t classes = c.inputs[0].dimensions.back();
  double sum = 0;
  for (std::size_t row = 0; row < at.data[0].size(); ++row) {
    const double* x = at.inputs[0].data() + row * classes;
    double total = 0;
    for (std::int64_t i = 0; i < classes; ++i) total += std::exp(x[i]);
    sum += std::log(total) - x[at.data[0][row]];
  }
  return {sum / static_cast<double>(c.rows_in_step)};
}

}  // namespace

KindCheck cross_entropy_check() {
  return {loss,
          2e-6,
          {cross_entropy_case(1, 5, 8), cross_entropy_case(3, 17, 24),
           cross_entropy_case(1, 64, 256), cross_entropy_case(4, 10), cross_entropy_case(1, 1),
           cross_entropy_case(1, 1, 2), cross_entropy_case(2, 3, 33)}};
}

namespace {

TEST(CrossEntropy, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(cross_entropy_check());
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClasses) {
  Case c = cross_entropy_case(2, 3, 10);
  c.rows_in_step = 6;
  Harness harness(c);
  std::memset(harness.inputs[0].at, 0, harness.inputs[0].bytes);
  harness.forward();
  EXPECT_NEAR(harness.loss, std::log(10.0), 1e-12);
}

TEST(CrossEntropy, StaysFiniteForExtremeLogits) {
  Case c = cross_entropy_case(1, 1, 4);
  c.rows_in_step = 1;
  Harness harness(c);
  const float logits[] = {500.0f, -500.0f, 0.0f, 499.0f};
  std::memcpy(harness.inputs[0].floats(), logits, sizeof logits);
  harness.data[0].octets()[0] = 1;
  harness.all();
  EXPECT_NEAR(harness.loss, 1000.0 + std::log1p(std::exp(-1.0)), 1e-4);
  EXPECT_EQ(harness.input_gradients[0].floats()[1], -1.0f);
  EXPECT_TRUE(std::isfinite(harness.input_gradients[0].floats()[0]));
}

TEST(CrossEntropy, CountsTheRowsWhoseClassHasTheLargestLogitOfEqualOnesTheFirst) {
  Harness harness(cross_entropy_case(1, 4, 3));
  const float logits[] = {1, 3, 2, 0, 0, 0, 0, 0, 0, 5, -1, 4};
  std::memcpy(harness.inputs[0].floats(), logits, sizeof logits);
  const std::uint8_t targets[] = {1, 0, 2, 2};  // right, right (of equal ones the first), wrong, wrong
  std::memcpy(harness.data[0].octets(), targets, sizeof targets);
  harness.forward();
  EXPECT_EQ(harness.hits.right, 2);
  EXPECT_EQ(harness.hits.rows, 4);
  harness.forward();
  EXPECT_EQ(harness.hits.rows, 8) << "they add up";
}

TEST(CrossEntropy, ReportsANotANumberInTheLogits) {
  Harness harness(cross_entropy_case(1, 3, 20));
  harness.inputs[0].floats()[25] = NAN;
  harness.forward();
  EXPECT_TRUE(std::isnan(harness.loss));
}

TEST(CrossEntropyDeathTest, RefusesATargetBeyondTheClasses) {
  Harness harness(cross_entropy_case(1, 3, 4));
  harness.data[0].octets()[1] = 4;
  EXPECT_DEATH(harness.forward(), "classes");
}

}  // namespace
}  // namespace penstock::cpu::testing
