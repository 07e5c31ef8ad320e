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
  return *emit(one_f_one_b(), shape);
}

TEST(OneFOneB, IsDrawnAsInItsComment) {
  EXPECT_EQ(test::draw(order_of(3, 4)), (std::vector<std::string>{"012....aa3bb.cc.dd",  //
                                                                  ".01..aa2bb3cc.dd..",  //
                                                                  "..0aa1bb2cc3dd...."}));
}

TEST(OneFOneB, WithFewMicrobatchesWarmsUpWithAllOfThem) {
  EXPECT_EQ(test::tokens(order_of(4, 2), RankId(0)), "0F0 0F1 0B0 0B1");
  EXPECT_EQ(test::tokens(order_of(4, 2), RankId(3)), "3F0 3B0 3F1 3B1");
}

// (m + p - 1)·T + C·[2(p - 1)·(q + 1) + 2·max(0, r - 1)], q and r of (m - 1)/p, for C up to
// F/2.
TEST(OneFOneB, TakesAsLongAsItsClosedForm) {
  Evaluator evaluator;
  for (std::int32_t p = 1; p <= 16; ++p) {
    for (std::int32_t m = 1; m <= 64; ++m) {
      for (const std::int64_t c : {0, 1, 3, 5}) {
        const Order order = order_of(p, m);
        const OrderCosts costs = OrderCosts::uniform(order, Nanoseconds(10), Nanoseconds(12),
                                                     Nanoseconds(8), Nanoseconds(c));
        const auto evaluation = evaluator.evaluate(order, costs);
        ASSERT_TRUE(evaluation.has_value());
        const std::int64_t trips =
            p == 1 ? 0 : 2 * (p - 1) * ((m - 1) / p + 1) + 2 * std::max(0, (m - 1) % p - 1);
        EXPECT_EQ((*evaluation)->makespan.value, (m + p - 1) * 30 + c * trips)
            << p << "x" << m << " C " << c;
      }
    }
  }
}

TEST(OneFOneB, RankRKeepsAtMostPMinusRActivations) {
  const PeakActivations peaks = peak_activations(order_of(5, 3));
  EXPECT_EQ(peaks.until_weight, (std::vector<std::int32_t>{3, 3, 3, 2, 1}));
  EXPECT_EQ(peak_activations(order_of(4, 9)).until_input, (std::vector<std::int32_t>{4, 3, 2, 1}));
}

TEST(OneFOneB, RefusesChunks) {
  Shape shape;
  shape.chunks = 2;
  const auto order = emit(one_f_one_b(), shape);
  ASSERT_FALSE(order.has_value());
  EXPECT_EQ(order.error().message, "1f1b has one stage a rank: chunks must be 1, not 2");
}

}  // namespace
}  // namespace penstock
