#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/exec/kernels/kernel_harness.h"

namespace penstock::cpu::testing {
namespace {

struct Moments {
  double mean, variance;
};

// Of channel c over the microbatch.
Moments moments(const Case& c, const std::vector<double>& x, std::int64_t channel) {
  const auto& image = c.inputs[0].dimensions;
  const std::int64_t plane = image[1] * image[2];
  Moments result{0, 0};
  const auto each = [&](auto call) {
    for (std::int64_t s = 0; s < c.microbatch; ++s) {
      for (std::int64_t i = 0; i < plane; ++i) call(x[(s * image[0] + channel) * plane + i]);
    }
  };
  const double n = static_cast<double>(c.microbatch * plane);
  each([&](double value) { result.mean += value / n; });
  each([&](double value) { result.variance += (value - result.mean) * (value - result.mean) / n; });
  return result;
}

std::vector<double> normalize(const Case& c, const Point& at, bool training) {
  const auto& image = c.inputs[0].dimensions;
  std::vector<double> y = at.inputs[0];
  for (std::int64_t channel = 0; channel < image[0]; ++channel) {
    Moments m{at.parameters[2][channel], at.parameters[3][channel]};
    if (training) m = moments(c, at.inputs[0], channel);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (static_cast<std::int64_t>(i) / (image[1] * image[2]) % image[0] != channel) continue;
      y[i] = (y[i] - m.mean) / std::sqrt(m.variance + 1e-5) * at.parameters[0][channel] +
             at.parameters[1][channel];
    }
  }
  return y;
}

std::vector<double> trained(const Case& c, const Point& at) {
  return normalize(c, at, true);
}

std::vector<double> doubles(const Operand& x) {
  return {x.floats(), x.floats() + x.count()};
}

}  // namespace

KindCheck batch_norm_check() {
  return {trained,
          3e-6,
          {batch_norm_case(1, {3, 2, 2}), batch_norm_case(2, {17, 5, 3}),
           batch_norm_case(4, {8, 7, 9}), batch_norm_case(3, {1, 1, 1}),
           batch_norm_case(1, {1, 1, 1}), batch_norm_case(1, {5, 1, 19}),
           batch_norm_case(2, {33, 3, 1})}};
}

namespace {

TEST(BatchNorm, MatchesTheDoublePrecisionReference) {
  expect_matches_reference(batch_norm_check());
}

TEST(BatchNorm, UsesTheRunningStatisticsOutsideOfTraining) {
  const Case c = batch_norm_case(2, {17, 5, 3});
  Harness harness(c);
  harness.training = false;
  harness.forward();
  Point at;
  at.inputs = {doubles(harness.inputs[0])};
  for (const Operand& x : harness.parameters) at.parameters.push_back(doubles(x));
  const std::vector<double> want = normalize(c, at, false);
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(harness.output.floats()[i], want[i], 2e-5 * (1 + std::abs(want[i])));
}

TEST(BatchNorm, AddsTheWeightedMomentsOfTheMicrobatchToItsStatistics) {
  const Case c = batch_norm_case(3, {5, 4, 2});
  Harness harness(c);
  const std::vector<double> before_mean = doubles(harness.parameter_gradients[2]);
  const std::vector<double> before_variance = doubles(harness.parameter_gradients[3]);
  harness.statistic_weight = 0.25f;
  harness.all();
  const double n = 3 * 4 * 2;
  for (std::int64_t k = 0; k < 5; ++k) {
    const Moments m = moments(c, doubles(harness.inputs[0]), k);
    EXPECT_NEAR(harness.parameter_gradients[2].floats()[k], before_mean[k] + 0.25 * m.mean, 1e-6);
    EXPECT_NEAR(harness.parameter_gradients[3].floats()[k],
                before_variance[k] + 0.25 * m.variance * n / (n - 1), 1e-6);
  }
}

TEST(BatchNorm, OfOnePixelGivesItsBiasAndAVarianceOfZero) {
  Harness harness(batch_norm_case(1, {4, 1, 1}));
  for (const Operand& x : harness.parameter_gradients) std::memset(x.at, 0, x.bytes);
  harness.statistic_weight = 1.0f;
  harness.all();
  for (std::int64_t k = 0; k < 4; ++k) {
    EXPECT_EQ(harness.output.floats()[k], harness.parameters[1].floats()[k]);
    EXPECT_EQ(harness.parameter_gradients[2].floats()[k], harness.inputs[0].floats()[k]);
    EXPECT_EQ(harness.parameter_gradients[3].floats()[k], 0.0f);
    EXPECT_EQ(harness.input_gradients[0].floats()[k], 0.0f);
  }
}

TEST(BatchNorm, ChangesNoParameterInForward) {
  Harness harness(batch_norm_case(2, {3, 4, 4})), untouched(harness.description);
  harness.statistic_weight = 0.5f;
  harness.forward();
  harness.forward();
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(std::memcmp(harness.parameters[p].at, untouched.parameters[p].at,
                          harness.parameters[p].bytes),
              0);
    EXPECT_EQ(std::memcmp(harness.parameter_gradients[p].at, untouched.parameter_gradients[p].at,
                          harness.parameters[p].bytes),
              0);
  }
}

TEST(BatchNorm, KeepsItsAccuracyWhereTheMeanIsLarge) {
  Harness harness(batch_norm_case(4, {1, 16, 16}));
  for (std::int64_t i = 0; i < harness.inputs[0].count(); ++i)
    harness.inputs[0].floats()[i] = 4096.0f + static_cast<float>(i % 2);
  harness.parameters[0].floats()[0] = 1.0f;
  harness.parameters[1].floats()[0] = 0.0f;
  harness.forward();
  for (std::int64_t i = 0; i < harness.output.count(); ++i)
    EXPECT_NEAR(harness.output.floats()[i], i % 2 == 0 ? -1.0 : 1.0, 1e-4);
}

}  // namespace
}  // namespace penstock::cpu::testing
