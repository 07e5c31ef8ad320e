#include "exec/cpu/math/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace penstock::cpu {
namespace {

std::vector<float> arguments(std::int64_t n) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(static_cast<float>(3 * std::sin(1.7 * static_cast<double>(i + 1))));
  return x;
}

TEST(Softmax, IsWithinAFewUnitsInTheLastPlaceForEveryLength) {
  for (std::int64_t n = 1; n <= 70; ++n) {
    const std::vector<float> x = arguments(n);
    std::vector<float> p(n);
    const SoftmaxRow row = softmax(x.data(), n, p.data());
    double total = 0;
    for (float value : x) total += std::exp(static_cast<double>(value) - row.largest);
    EXPECT_NEAR(row.total, total, 1e-6 * total);
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(p[i] / (std::exp(double{x[i]} - row.largest) / total), 1.0, 1e-6) << n;
  }
}

TEST(Softmax, InPlaceIsTheSame) {
  std::vector<float> x = arguments(37), p(37);
  softmax(x.data(), 37, p.data());
  softmax(x.data(), 37, x.data());
  EXPECT_EQ(x, p);
}

TEST(Softmax, GradientSumsToZero) {
  // Adding a constant to all arguments changes no probability.
  std::vector<float> x = arguments(37), p(37), d = arguments(37);
  softmax(x.data(), 37, p.data());
  softmax_gradient(p.data(), 37, d.data());
  double sum = 0;
  for (float value : d) sum += value;
  EXPECT_NEAR(sum, 0.0, 1e-6);
}

}  // namespace
}  // namespace penstock::cpu
