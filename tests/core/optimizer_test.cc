#include "core/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace penstock {
namespace {

Optimizer with(const LearningRateSchedule& schedule) {
  Optimizer out;
  out.learning_rate = 0.5;
  out.schedule = schedule;
  return out;
}

TEST(Optimizer, KeepsOneStateForMomentumAndTwoForAdam) {
  EXPECT_EQ((Optimizer{.kind = OptimizerKind::Sgd, .momentum = 0}).states(), 0);
  EXPECT_EQ((Optimizer{.kind = OptimizerKind::Sgd, .momentum = 0.5}).states(), 1);
  EXPECT_EQ((Optimizer{.kind = OptimizerKind::Adam, .momentum = 0}).states(), 2);
  EXPECT_EQ((Optimizer{.kind = OptimizerKind::AdamW}).states(), 2);
}

TEST(Optimizer, WithoutAScheduleTheRateIsTheRateAtEveryStep) {
  for (const std::int64_t step : {0, 1, 1000}) EXPECT_EQ(learning_rate_at(with({}), step), 0.5);
}

TEST(Optimizer, WarmUpClimbsInEqualStepsAndReachesTheRateWithItsLast) {
  const Optimizer x = with({.warmup = 4});
  for (std::int64_t step = 0; step < 4; ++step)
    EXPECT_DOUBLE_EQ(learning_rate_at(x, step), 0.5 * static_cast<double>(step + 1) / 4);
  EXPECT_EQ(learning_rate_at(x, 4), 0.5);
}

TEST(Optimizer, LinearDecayIsTheWorkedExample) {
  const Optimizer x = with({.kind = DecayKind::Linear, .warmup = 2, .steps = 6});
  const double shares[] = {0.5, 1, 1, 0.75, 0.5, 0.25, 0, 0};
  for (std::int64_t step = 0; step < 8; ++step) EXPECT_DOUBLE_EQ(learning_rate_at(x, step), 0.5 * shares[step]);
}

TEST(Optimizer, CosineDecayIsHalfWayInTheMiddleAndEndsAtItsFraction) {
  const Optimizer x = with({.kind = DecayKind::Cosine, .steps = 10, .final = 0.2});
  EXPECT_DOUBLE_EQ(learning_rate_at(x, 0), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate_at(x, 5), 0.5 * 0.6);
  EXPECT_DOUBLE_EQ(learning_rate_at(x, 10), 0.5 * 0.2);
  EXPECT_DOUBLE_EQ(learning_rate_at(x, 5000), 0.5 * 0.2);
  for (std::int64_t step = 1; step <= 10; ++step) EXPECT_LT(learning_rate_at(x, step), learning_rate_at(x, step - 1));
}

TEST(Optimizer, StepDecayCutsAtEveryMultiple) {
  const Optimizer x = with({.kind = DecayKind::Step, .warmup = 1, .every = 3, .factor = 0.5});
  const double shares[] = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25};
  for (std::int64_t step = 0; step < 8; ++step) EXPECT_DOUBLE_EQ(learning_rate_at(x, step), 0.5 * shares[step]);
}

// Where validate() points, "" if it finds nothing.
std::string place(Optimizer x) {
  const auto valid = validate(x);
  return valid ? "" : valid.error().where.pointer;
}

TEST(Optimizer, EveryNumberOutOfItsRangeIsRefusedByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW}) {
    EXPECT_EQ(place(default_optimizer(kind)), "");
  }
  EXPECT_EQ(place({.learning_rate = nan}), "/optimizer/learning_rate");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .beta1 = 1}), "/optimizer/beta1");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .beta2 = -0.1}), "/optimizer/beta2");
  EXPECT_EQ(place({.kind = OptimizerKind::AdamW, .epsilon = 0}), "/optimizer/epsilon");
  EXPECT_EQ(place({.kind = OptimizerKind::AdamW, .epsilon = nan}), "/optimizer/epsilon");
  // In range as a double, but not in the f32 of the updates: 0, 1 or infinite there.
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .epsilon = 1e-60}), "/optimizer/epsilon");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .epsilon = 1e-42}), "/optimizer/epsilon");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .epsilon = 1e60}), "/optimizer/epsilon");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .beta1 = 1 - 1e-12}), "/optimizer/beta1");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .beta2 = 1 - 1e-12}), "/optimizer/beta2");
  EXPECT_EQ(place({.momentum = 1 - 1e-12}), "/optimizer/momentum");
  EXPECT_EQ(place({.learning_rate = 1e60}), "/optimizer/learning_rate");
  EXPECT_EQ(place({.learning_rate = 1e-60}), "/optimizer/learning_rate");
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .learning_rate = 1e38}), "/optimizer/learning_rate");
  EXPECT_EQ(place({.learning_rate = 1e30, .weight_decay = 1e30}), "/optimizer/learning_rate");
  EXPECT_EQ(place({.weight_decay = 1e60}), "/optimizer/weight_decay");
  EXPECT_EQ(place({.clip = 1e-60}), "/optimizer/clip");
  EXPECT_TRUE(validate({.kind = OptimizerKind::Adam, .epsilon = 1e-30}));
  EXPECT_TRUE(validate({.learning_rate = 0, .momentum = 0}));
  EXPECT_EQ(place({.weight_decay = -1}), "/optimizer/weight_decay");
  EXPECT_EQ(place({.clip = nan}), "/optimizer/clip");
  EXPECT_EQ(place({.clip = INFINITY}), "/optimizer/clip");
  EXPECT_EQ(place(with({.warmup = -1})), "/optimizer/schedule/warmup");
  EXPECT_EQ(place(with({.kind = DecayKind::Cosine, .warmup = 5, .steps = 5})), "/optimizer/schedule/steps");
  EXPECT_EQ(place(with({.kind = DecayKind::Linear, .steps = 5, .final = 1.5})), "/optimizer/schedule/final");
  EXPECT_EQ(place(with({.kind = DecayKind::Step})), "/optimizer/schedule/every");
  EXPECT_EQ(place(with({.kind = DecayKind::Step, .every = 1, .factor = nan})), "/optimizer/schedule/factor");
}

TEST(Optimizer, WhatAKindDoesNotReadIsNotJudged) {
  EXPECT_EQ(place({.kind = OptimizerKind::Adam, .momentum = 7}), "");
  EXPECT_EQ(place({.kind = OptimizerKind::Sgd, .beta1 = 7}), "");
}

}  // namespace
}  // namespace penstock
