#include "core/order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(ChainOrder, HasOneStageARankAndEmptyLists) {
  const Order order = chain_order(3, 5);
  EXPECT_EQ(order.ranks, 3);
  EXPECT_EQ(order.edges,
            (std::vector<StageEdge>{{StageId(0), StageId(1)}, {StageId(1), StageId(2)}}));
  for (std::int32_t s = 0; s < 3; ++s) {
    EXPECT_EQ(order.rank(StageId(s)), RankId(s));
    EXPECT_TRUE(order.of(RankId(s)).empty());
  }
}

TEST(OrderCosts, UniformOnesHaveOneEntryAStageAndAnEdge) {
  const OrderCosts costs = OrderCosts::uniform(chain_order(3, 5), Nanoseconds(1), Nanoseconds(2),
                                               Nanoseconds(3), Nanoseconds(4));
  EXPECT_EQ(costs.forward, std::vector(3, Nanoseconds(1)));
  EXPECT_EQ(costs.backward_input, std::vector(3, Nanoseconds(2)));
  EXPECT_EQ(costs.backward_weight, std::vector(3, Nanoseconds(3)));
  EXPECT_EQ(costs.recompute, std::vector(3, Nanoseconds(1)));
  EXPECT_EQ(costs.step, std::vector(3, Nanoseconds(0)));
  EXPECT_EQ(costs.activation, std::vector(2, Nanoseconds(4)));
  EXPECT_EQ(costs.gradient, std::vector(2, Nanoseconds(4)));
}

// GPipe holds all m; 1F1B holds min(m, p - r) (Narayanan et al. 2021, section 2.2).
TEST(PeakActivations, OfGPipeAndOneFOneBAreTheKnownOnes) {
  for (std::int32_t p = 1; p <= 6; ++p) {
    for (std::int32_t m = 1; m <= 9; ++m) {
      const PeakActivations one = peak_activations(one_f_one_b_order(p, m)),
                            all = peak_activations(gpipe_order(p, m));
      for (std::int32_t r = 0; r < p; ++r) {
        EXPECT_EQ(one.until_weight[static_cast<std::size_t>(r)], std::min(m, p - r));
        EXPECT_EQ(all.until_weight[static_cast<std::size_t>(r)], m);
      }
      EXPECT_EQ(one.until_input, one.until_weight);
    }
  }
}

TEST(PeakActivations, TellInputFromWeightGradients) {
  Order order = chain_order(1, 2);
  for (const auto& [op, microbatch] :
       {std::pair(Op::F, 0u), {Op::B, 0u}, {Op::F, 1u}, {Op::B, 1u}, {Op::W, 0u}, {Op::W, 1u}}) {
    OrderOp entry{.op = op};
    entry.microbatch = microbatch & 0xff;
    order.ops.push_back(entry);
  }
  order.first = {0, order.ops.size()};
  EXPECT_EQ(peak_activations(order).until_weight, std::vector(1, 2));
  EXPECT_EQ(peak_activations(order).until_input, std::vector(1, 1));
}

TEST(OrderText, TokensAreAsPublicGeneratorsPrintThem) {
  OrderOp op{.op = Op::F, .stage = 2};
  op.microbatch = 13;
  EXPECT_EQ(token(op), "2F13");
  op.op = Op::BF;
  EXPECT_EQ(token(op), "2B13");
  op.op = Op::B;
  EXPECT_EQ(token(op), "2I13");
  op.op = Op::W;
  EXPECT_EQ(token(op), "2W13");
}

TEST(OrderText, IsThatOfInstructions) {
  OrderOp op{.op = Op::BF, .stage = 2};
  op.microbatch = 13;
  EXPECT_EQ(text(op), "BF 2.13");
  op.slice = 1;
  op.direction = 1;
  EXPECT_EQ(text(op), "BF 2.13.1@1");
  op.op = Op::Step;
  EXPECT_EQ(text(op), "STEP 2");
}

}  // namespace
}  // namespace penstock::test
