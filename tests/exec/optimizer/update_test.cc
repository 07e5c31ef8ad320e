#include "exec/optimizer/update.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/optimizer/statistic.h"

namespace penstock {
namespace {

const Parameter kTrained{.name = "w", .dimensions = {2}};
const Parameter kStatistic{.name = "mean", .dimensions = {2}, .role = ParameterRole::Statistic};

TEST(UpdateRule, PlainSgdIsTheSameBitsWithAndWithoutTheRest) {
  const Optimizer x{.learning_rate = 0.3, .momentum = 0.9};
  std::vector<float> w = {1, -2}, g = {0.7f, -0.0f}, v = {0.1f, 0}, w2 = w, g2 = g, v2 = v;
  UpdateRule(x, 17, 4, 1.0f).apply(kTrained, w.data(), g.data(), v.data(), nullptr);
  sgd({.learning_rate = 0.3f, .momentum = 0.9f}, 2, w2.data(), g2.data(), v2.data());
  EXPECT_EQ(w, w2);
  EXPECT_EQ(v, v2);
}

TEST(UpdateRule, ClippingComesBeforeWeightDecay) {
  const Optimizer x{.learning_rate = 1, .momentum = 0, .weight_decay = 0.5};
  std::vector<float> w = {4, 8}, g = {2, 4};
  UpdateRule(x, 0, 1, 0.5f).apply(kTrained, w.data(), g.data(), nullptr, nullptr);
  EXPECT_EQ(w, (std::vector<float>{1, 2}));  // w − (g/2 + w/2)
}

TEST(UpdateRule, TheRateIsThatOfTheStep) {
  const Optimizer x{.learning_rate = 1, .momentum = 0, .schedule = {.kind = DecayKind::Step, .every = 2, .factor = 0.5}};
  std::vector<float> w = {0, 0}, g = {1, 1};
  UpdateRule(x, 4, 1, 1.0f).apply(kTrained, w.data(), g.data(), nullptr, nullptr);
  EXPECT_EQ(w[0], -0.25f);
}

TEST(UpdateRule, StatisticsAreNeitherDecayedNorClippedNorMovedByTheRate) {
  for (const OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::AdamW}) {
    Optimizer x = default_optimizer(kind);
    x.weight_decay = 0.5;
    std::vector<float> value = {2, 4}, g = {1, 1}, m(2), v(2);
    UpdateRule(x, 0, 3, 0.1f).apply(kStatistic, value.data(), g.data(), m.data(), v.data());
    EXPECT_EQ(value, (std::vector<float>{2 * statistic_decay(3) + 1, 4 * statistic_decay(3) + 1}));
    EXPECT_EQ(m, std::vector<float>(2));
  }
}

}  // namespace
}  // namespace penstock
