#include "sim/time_guard.h"

#include <gtest/gtest.h>

#include "sim/evaluate.h"

namespace penstock {
namespace {

Order two_stages() {
  Order order = chain_order(2, 1);
  for (std::uint16_t s = 0; s < 2; ++s) {
    order.ops.push_back({.op = Op::F, .stage = s});
    order.ops.push_back({.op = Op::BF, .stage = s});
  }
  order.first = {0, 2, 4};
  return order;
}

OrderCosts costs_of(const Order& order, Nanoseconds time, Nanoseconds transfer) {
  return OrderCosts::uniform(order, time, time, time, transfer);
}

TEST(TimeGuard, AdmitsTimesWhoseSumIsBounded) {
  const Order order = two_stages();
  EXPECT_TRUE(is_bounded(order, costs_of(order, Nanoseconds(1'000'000), Nanoseconds(1000))));
  // A backward counts with all that may belong to it, recompute and update too, so two F and two BF of t each are less
  // than 11 t, though four times the longest of them may be more than the bound.
  const Nanoseconds part(kLongestRun.value / 11);
  EXPECT_TRUE(is_bounded(order, costs_of(order, part, Nanoseconds(0))));
}

TEST(TimeGuard, RefusesTimesThatOverflow) {
  const Order order = two_stages();
  EXPECT_FALSE(is_bounded(order, costs_of(order, Nanoseconds(kLongestRun.value / 5), Nanoseconds(0))));
  EXPECT_FALSE(is_bounded(order, costs_of(order, Nanoseconds(1), kLongestRun)));
  EXPECT_FALSE(is_bounded(order, costs_of(order, kForever, kForever)));
}

TEST(TimeGuard, TheEvaluatorReportsThemInsteadOfOverflowing) {
  const Order order = two_stages();
  Evaluator evaluator;
  const auto result = evaluator.evaluate(order, costs_of(order, kForever, Nanoseconds(0)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Infeasible);
}

}  // namespace
}  // namespace penstock
