#include <gtest/gtest.h>

#include "planner/schedules/built_in.h"
#include "sim/evaluate.h"
#include "tests/planner/drawing.h"

namespace penstock {
namespace {

Order order_of(std::int32_t p, std::int32_t m) {
  Shape shape;
  shape.stages = p;
  shape.microbatches = m;
  return *emit(gpipe(), shape);
}

TEST(Gpipe, IsDrawnAsInItsComment) {
  EXPECT_EQ(test::draw(order_of(3, 4)), (std::vector<std::string>{"0123......aabbccdd",  //
                                                                  ".0123...aabbccdd..",  //
                                                                  "..0123aabbccdd...."}));
}

TEST(Gpipe, RunsBackwardInAscendingOrder) {
  EXPECT_EQ(test::tokens(order_of(2, 3), RankId(1)), "1F0 1F1 1F2 1B0 1B1 1B2");
}

// (m + p - 1)·T + 2(p - 1)·C, for any C.
TEST(Gpipe, TakesAsLongAsItsClosedForm) {
  Evaluator evaluator;
  for (std::int32_t p = 1; p <= 16; ++p) {
    for (std::int32_t m = 1; m <= 64; m += 1 + m / 5) {
      for (const std::int64_t c : {0, 1, 4, 25}) {
        const Order order = order_of(p, m);
        const OrderCosts costs = OrderCosts::uniform(order, Nanoseconds(10), Nanoseconds(12),
                                                     Nanoseconds(8), Nanoseconds(c));
        const auto evaluation = evaluator.evaluate(order, costs);
        ASSERT_TRUE(evaluation.has_value());
        EXPECT_EQ((*evaluation)->makespan.value, (m + p - 1) * 30 + 2 * (p - 1) * c)
            << p << "x" << m << " C " << c;
      }
    }
  }
}

TEST(Gpipe, KeepsEveryMicrobatchOnEveryRank) {
  const PeakActivations peaks = peak_activations(order_of(5, 7));
  EXPECT_EQ(peaks.until_weight, std::vector<std::int32_t>(5, 7));
}

TEST(Gpipe, RefusesChunksAndSlicesAndSaysWhatItAdmits) {
  Shape shape;
  shape.chunks = 2;
  auto order = emit(gpipe(), shape);
  ASSERT_FALSE(order.has_value());
  EXPECT_EQ(order.error().code, ErrorCode::Infeasible);
  EXPECT_EQ(order.error().message, "gpipe has one stage a rank: chunks must be 1, not 2");
  EXPECT_EQ(order.error().hint, "gpipe admits: any stages and microbatches; chunks 1, slices 1");
  shape.chunks = 1;
  shape.slices = 4;
  order = emit(gpipe(), shape);
  ASSERT_FALSE(order.has_value());
  EXPECT_EQ(order.error().message, "gpipe runs whole microbatches: slices must be 1, not 4");
}

}  // namespace
}  // namespace penstock
