#include "exec/optimizer/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/random.h"

namespace penstock {
namespace {

std::vector<float> draw(std::size_t n, std::uint64_t key) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(normal(combine(key, i)));
  return out;
}

// The algorithms as they are printed, in double.
struct Written {
  Optimizer x;
  std::vector<double> w, m, v;

  void step(std::int64_t s, const std::vector<float>& gradient) {
    const double t = static_cast<double>(s + 1), rate = learning_rate_at(x, s);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double g = gradient[i];
      if (x.kind == OptimizerKind::Adam) g += x.weight_decay * w[i];
      m[i] = x.beta1 * m[i] + (1 - x.beta1) * g;
      v[i] = x.beta2 * v[i] + (1 - x.beta2) * g * g;
      const double m_hat = m[i] / (1 - std::pow(x.beta1, t)), v_hat = v[i] / (1 - std::pow(x.beta2, t));
      if (x.kind == OptimizerKind::AdamW) w[i] -= rate * x.weight_decay * w[i];
      w[i] -= rate * m_hat / (std::sqrt(v_hat) + x.epsilon);
    }
  }
};

void expect_follows(const Optimizer& x) {
  constexpr std::size_t kElements = 203;
  std::vector<float> w = draw(kElements, 1), m(kElements), v(kElements);
  Written written{.x = x, .w = {w.begin(), w.end()}, .m = std::vector<double>(kElements), .v = std::vector<double>(kElements)};
  for (std::int64_t s = 0; s < 200; ++s) {
    std::vector<float> g = draw(kElements, 100 + static_cast<std::uint64_t>(s));
    written.step(s, g);
    adam(AdamStep::of(x, s), kElements, w.data(), g.data(), m.data(), v.data());
    for (const float left : g) ASSERT_EQ(left, 0.0f);
  }
  for (std::size_t i = 0; i < kElements; ++i) {
    ASSERT_NEAR(w[i], written.w[i], 2e-5 * (1 + std::abs(written.w[i])));
    ASSERT_NEAR(m[i], written.m[i], 1e-5);
    ASSERT_NEAR(v[i], written.v[i], 1e-5 * (1 + written.v[i]));
  }
}

TEST(Adam, FollowsTheAlgorithmInDouble) {
  expect_follows({.kind = OptimizerKind::Adam, .learning_rate = 1e-3});
  expect_follows({.kind = OptimizerKind::Adam, .learning_rate = 1e-2, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3,
                  .weight_decay = 0.1});
}

TEST(Adam, WithDecoupledDecayFollowsAdamWInDouble) {
  Optimizer x{.kind = OptimizerKind::AdamW, .learning_rate = 3e-3, .beta2 = 0.95, .weight_decay = 0.1};
  expect_follows(x);
  x.schedule = {.kind = DecayKind::Cosine, .warmup = 10, .steps = 150, .final = 0.1};
  expect_follows(x);
}

TEST(Adam, TheFirstStepIsTheRateAgainstTheSignOfTheGradient) {
  // m/(1−β1) = g and v/(1−β2) = g²: w moves by rate·g/(|g| + ε), whatever the betas.
  const Optimizer x{.kind = OptimizerKind::Adam, .learning_rate = 0.125, .epsilon = 1e-12};
  std::vector<float> w = {1, 1, 1}, g = {4, -0.5f, 1e-3f}, m(3), v(3);
  adam(AdamStep::of(x, 0), 3, w.data(), g.data(), m.data(), v.data());
  EXPECT_NEAR(w[0], 0.875, 1e-6);
  EXPECT_NEAR(w[1], 1.125, 1e-6);
  EXPECT_NEAR(w[2], 0.875, 1e-6);
}

TEST(Adam, EpsilonStandsOutsideTheRoot) {
  // g = 1 for ever: m̂ = v̂ = 1, so each step is rate/(1 + ε) = 1/3 with ε = 0.5 and rate 0.5; inside it would be rate/√1.5.
  const Optimizer x{.kind = OptimizerKind::Adam, .learning_rate = 0.5, .epsilon = 0.5};
  std::vector<float> w = {0}, m(1), v(1);
  for (std::int64_t s = 0; s < 3; ++s) {
    std::vector<float> g = {1};
    adam(AdamStep::of(x, s), 1, w.data(), g.data(), m.data(), v.data());
    EXPECT_NEAR(w[0], -static_cast<double>(s + 1) / 3, 1e-6);
  }
}

TEST(Adam, WithoutGradientsDecoupledDecayShrinksGeometrically) {
  const Optimizer x{.kind = OptimizerKind::AdamW, .learning_rate = 0.5, .weight_decay = 0.5};
  std::vector<float> w = {16}, g = {0}, m(1), v(1);
  for (std::int64_t s = 0; s < 2; ++s) adam(AdamStep::of(x, s), 1, w.data(), g.data(), m.data(), v.data());
  EXPECT_EQ(w[0], 9.0f);
}

TEST(Adam, BitsDoNotDependOnAlignmentOrLength) {
  const Optimizer x{.kind = OptimizerKind::AdamW, .weight_decay = 0.1};
  constexpr std::size_t kElements = 67;
  std::vector<float> expected;
  for (std::size_t shift = 0; shift < 16; ++shift) {
    std::vector<float> w(shift + kElements), g(w), m(w), v(w);
    const std::vector<float> w0 = draw(kElements, 5), g0 = draw(kElements, 6);
    for (std::size_t i = 0; i < kElements; ++i) {
      w[shift + i] = w0[i];
      g[shift + i] = g0[i];
    }
    // In two pieces, parted elsewhere each time.
    adam(AdamStep::of(x, 3), shift, w.data() + shift, g.data() + shift, m.data() + shift, v.data() + shift);
    adam(AdamStep::of(x, 3), kElements - shift, w.data() + 2 * shift, g.data() + 2 * shift, m.data() + 2 * shift,
         v.data() + 2 * shift);
    const std::vector<float> out(w.begin() + static_cast<std::ptrdiff_t>(shift), w.end());
    if (shift == 0) expected = out;
    ASSERT_EQ(std::memcmp(out.data(), expected.data(), kElements * sizeof(float)), 0) << "shifted by " << shift;
  }
}

}  // namespace
}  // namespace penstock
