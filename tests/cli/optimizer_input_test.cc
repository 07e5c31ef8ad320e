#include "cli/optimizer_input.h"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

Optimizer parsed(const std::string& text, Optimizer from = {}) {
  const auto result = parse_optimizer(text, from);
  EXPECT_TRUE(result.has_value()) << text << ": " << (result ? "" : result.error().text());
  return from;
}

std::string refusal(const std::string& text) {
  Optimizer optimizer;
  const auto result = parse_optimizer(text, optimizer);
  if (result) return "accepted";
  EXPECT_EQ(result.error().code, ErrorCode::Usage) << text;
  EXPECT_EQ(optimizer, Optimizer{}) << text << " changed what it was refused for";
  return result.error().message + " | " + result.error().hint;
}

TEST(OptimizerInput, SgdKeepsWhatIsLeftOut) {
  Optimizer from;
  from.momentum = 0.25;
  const Optimizer x = parsed("sgd:learning-rate=0.5", from);
  EXPECT_EQ(x.learning_rate, 0.5);
  EXPECT_EQ(x.momentum, 0.25);
}

TEST(OptimizerInput, AnotherKindStartsFromItsOwnUsualNumbers) {
  Optimizer from;
  from.learning_rate = 7;
  from.weight_decay = 0.5;
  EXPECT_EQ(parsed("adam", from), default_optimizer(OptimizerKind::Adam));
  EXPECT_EQ(parsed("adamw", from), default_optimizer(OptimizerKind::AdamW));
}

TEST(OptimizerInput, EveryNumberIsRead) {
  const Optimizer x = parsed(
      "adamw:learning-rate=1e-3,beta1=0.8,beta2=0.95,epsilon=1e-6,weight-decay=0.1,clip=1.5,"
      "schedule=cosine,warmup=100,steps=1000,final=0.1");
  Optimizer expected = default_optimizer(OptimizerKind::AdamW);
  expected.beta1 = 0.8;
  expected.beta2 = 0.95;
  expected.epsilon = 1e-6;
  expected.weight_decay = 0.1;
  expected.clip = 1.5;
  expected.schedule = {.kind = DecayKind::Cosine, .warmup = 100, .steps = 1000, .final = 0.1};
  EXPECT_EQ(x, expected);
  const LearningRateSchedule steps = {.kind = DecayKind::Step, .every = 30, .factor = 0.5};
  EXPECT_EQ(parsed("sgd:schedule=step,every=30,factor=0.5").schedule, steps);
  EXPECT_EQ(parsed("sgd:schedule=linear,steps=5,final=1").schedule.final, 1);
}

TEST(OptimizerInput, WhatIsNoNumberOfItsRangeIsRefused) {
  for (const char* bad :
       {"lion", "sgd:rate=1", "sgd:momentum=1", "sgd:momentum=-1", "sgd:learning-rate=nan",
        "sgd:learning-rate=inf", "sgd:learning-rate=1x", "sgd:learning-rate=", "sgd:0.1",
        "adam:beta1=nan", "adam:beta2=1", "adam:epsilon=0", "adam:weight-decay=-1",
        "adam:clip=nan", "adam:clip=-1", "sgd:schedule=cosine",
        "sgd:schedule=cosine,steps=0", "sgd:schedule=cosine,warmup=9,steps=9",
        "sgd:schedule=linear,steps=9,final=1.01", "sgd:schedule=step",
        "sgd:schedule=step,every=0", "sgd:schedule=step,every=2,factor=0",
        "sgd:schedule=step,every=2,factor=nan", "sgd:schedule=sawtooth", "sgd:warmup=-1"})
    EXPECT_NE(refusal(bad), "accepted") << bad;
}

TEST(OptimizerInput, AKeyThatMeansNothingToTheKindIsRefused) {
  EXPECT_EQ(refusal("adamw:momentum=0.9").substr(0, 44), "--optimizer: momentum means nothing to adamw");
  EXPECT_EQ(refusal("sgd:beta1=0.9").substr(0, 39), "--optimizer: beta1 means nothing to sgd");
  EXPECT_EQ(refusal("sgd:steps=9"),
            "--optimizer: steps means nothing to the schedule constant | schedule=linear takes it");
  EXPECT_EQ(refusal("sgd:schedule=cosine,steps=9,factor=0.1"),
            "--optimizer: factor means nothing to the schedule cosine | schedule=step takes it");
}

TEST(OptimizerInput, ASlipOfThePenIsNamed) {
  EXPECT_NE(refusal("adamw:weight-decoy=0.1").find("did you mean weight-decay?"), std::string::npos);
  EXPECT_NE(refusal("sgd:warmpu=3").find("did you mean warmup?"), std::string::npos);
}

}  // namespace
}  // namespace penstock::cli
