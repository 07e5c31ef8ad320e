#include "exec/optimizer/sgd.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock {
namespace {

TEST(Sgd, FollowsTheMomentumRecurrence) {
  // w0 = 1, constant gradient 2, rate 0.5, momentum 0.5: v = 2, 3, 3.5; w = 0, -1.5, -3.25.
  std::vector<float> w(37, 1.0f), g(37), v(37, 0.0f);
  const float expected[] = {0.0f, -1.5f, -3.25f};
  for (const float value : expected) {
    g.assign(37, 2.0f);
    sgd({.learning_rate = 0.5f, .momentum = 0.5f}, w.size(), w.data(), g.data(), v.data());
    for (const float x : w) EXPECT_EQ(x, value);
  }
}

TEST(Sgd, WithoutMomentumTakesTheGradientAlone) {
  std::vector<float> w(5, 1.0f), g(5, 4.0f);
  sgd({.learning_rate = 0.25f, .momentum = 0.0f}, w.size(), w.data(), g.data(), nullptr);
  for (const float x : w) EXPECT_EQ(x, 0.0f);
}

TEST(Sgd, ClearsTheGradient) {
  std::vector<float> w(9, 1.0f), g(9, 4.0f), v(9, 0.0f);
  sgd({.learning_rate = 0.25f, .momentum = 0.9f}, w.size(), w.data(), g.data(), v.data());
  for (const float x : g) EXPECT_EQ(x, 0.0f);
}

TEST(Sgd, WeightDecayAddsTheWeightToTheGradient) {
  // w = 8, g = 1, λ = 0.25: g + λw = 3; rate 0.5.
  std::vector<float> w(3, 8.0f), g(3, 1.0f), v(3, 0.0f);
  sgd({.learning_rate = 0.5f, .momentum = 0.5f, .weight_decay = 0.25f}, w.size(), w.data(), g.data(), v.data());
  for (const float x : w) EXPECT_EQ(x, 6.5f);
  for (const float x : v) EXPECT_EQ(x, 3.0f);
  for (const float x : g) EXPECT_EQ(x, 0.0f);
}

}  // namespace
}  // namespace penstock
