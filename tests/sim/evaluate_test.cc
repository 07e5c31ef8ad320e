#include "sim/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

constexpr Nanoseconds operator""_ns(unsigned long long n) {
  return Nanoseconds(static_cast<std::int64_t>(n));
}

std::int64_t makespan(const Order& order, std::int64_t f, std::int64_t b, std::int64_t w,
                      std::int64_t transfer, Discipline discipline = Discipline::Eager) {
  Evaluator evaluator;
  const auto evaluation =
      evaluator.evaluate(order,
                         OrderCosts::uniform(order, Nanoseconds(f), Nanoseconds(b), Nanoseconds(w),
                                             Nanoseconds(transfer)),
                         discipline);
  EXPECT_TRUE(evaluation.has_value()) << evaluation.error().text();
  return evaluation ? (*evaluation)->makespan.value : -1;
}

std::string refusal(const Order& order) {
  Evaluator evaluator;
  const auto evaluation =
      evaluator.evaluate(order, OrderCosts::uniform(order, 1_ns, 1_ns, 1_ns, 0_ns));
  EXPECT_FALSE(evaluation.has_value());
  return evaluation ? "" : evaluation.error().message;
}

// F 1 ms, full backward 2 ms, 50 MB over 25 GB/s after 5 us: 2.005 ms.
TEST(Evaluate, OneFOneBUnderRendezvousTakesWhatSimGridsBlockingReceiversTake) {
  EXPECT_EQ(makespan(one_f_one_b(4, 16), 1'000'000, 1'000'000, 1'000'000, 2'005'000,
                     Discipline::Rendezvous),
            127'175'000);
  EXPECT_EQ(makespan(one_f_one_b(64, 1024), 1'000'000, 1'000'000, 1'000'000, 2'005'000,
                     Discipline::Rendezvous),
            7'613'855'000);
}

TEST(Evaluate, OneFOneBWithEagerTransfersTakesWhatItsClosedFormSays) {
  // 25 GiB/s: 1.867645… ms.
  const std::int64_t transfer =
      transfer_time(5'000_ns, BytesPerSecond(25.0 * (1 << 30)), Bytes(50'000'000)).value;
  EXPECT_NEAR(static_cast<double>(
                  makespan(one_f_one_b(64, 1024), 1'000'000, 1'000'000, 1'000'000, transfer)) *
                  1e-6,
              7257.8, 0.05);
  // (m+p-1)T + C (2(p-1)(⌊(m-1)/p⌋ + 1) + 2 max(0, (m-1) mod p - 1)) for C ≤ F/2: p microbatches in
  // flight come back after pT + 2(p-1)C, so every p of them lose 2(p-1)C.
  for (int p = 2; p <= 16; ++p) {
    for (int m = 1; m <= 64; ++m) {
      const Order order = one_f_one_b(p, m);
      for (const int c : {0, 1, 3, 5}) {
        const std::int64_t lost =
            2 * (p - 1) * ((m - 1) / p + 1) + 2 * std::max(0, (m - 1) % p - 1);
        ASSERT_EQ(makespan(order, 10, 12, 8, c), (m + p - 1) * 30 + c * lost)
            << p << " stages, " << m << " microbatches, C " << c;
      }
    }
  }
}

TEST(Evaluate, GPipeLosesTwoTransfersAStage) {
  for (int p = 1; p <= 9; ++p) {
    for (const int m : {1, 2, 7, 32})
      ASSERT_EQ(makespan(gpipe(p, m), 10, 12, 8, 7), (m + p - 1) * 30 + 2 * (p - 1) * 7)
          << p << "x" << m;
  }
}

TEST(Evaluate, ZeroBubbleH1HidesWeightGradients) {
  for (int p = 1; p <= 8; ++p) {
    for (const int m : {p, 2 * p, 3 * p + 1}) {
      ASSERT_EQ(makespan(zero_bubble_h1(p, m), 10, 12, 8, 0), m * 30 + (p - 1) * 14)
          << p << "x" << m;
      ASSERT_EQ(makespan(zero_bubble_h1(p, m), 10, 10, 10, 0), m * 30 + (p - 1) * 10)
          << p << "x" << m;
    }
  }
}

TEST(Evaluate, GivesStartEndAndBusyTimeOfEachRank) {
  const Order order = one_f_one_b(3, 2);
  Evaluator evaluator;
  evaluator.record = true;
  const auto evaluation =
      evaluator.evaluate(order, OrderCosts::uniform(order, 10_ns, 12_ns, 8_ns, 1_ns));
  ASSERT_TRUE(evaluation.has_value());
  const Evaluation& got = **evaluation;
  // rank 2: F 22-32, BF 32-52, F 52-62, BF 62-82; back over two transfers and two backwards.
  EXPECT_EQ(got.first_start, (std::vector{0_ns, 11_ns, 22_ns}));
  EXPECT_EQ(got.last_end, (std::vector{124_ns, 103_ns, 82_ns}));
  EXPECT_EQ(got.busy, (std::vector{60_ns, 60_ns, 60_ns}));
  EXPECT_EQ(got.makespan, 124_ns);
  EXPECT_EQ(got.span, 124_ns);
  EXPECT_DOUBLE_EQ(got.bubble_fraction(), 1 - 60.0 / 124);
  ASSERT_EQ(evaluator.starts.size(), order.ops.size());
  EXPECT_EQ(evaluator.starts[order.first[2]], 22_ns);
  EXPECT_EQ(evaluator.ends[order.first[2] + 1], 52_ns);
}

TEST(Evaluate, StagesDifferAndTransfersInsideARankAreFree) {
  Order order = chain_of(1, {{order_op(Op::F, 0, 0), order_op(Op::F, 1, 0), order_op(Op::BF, 1, 0),
                              order_op(Op::BF, 0, 0)}});
  order.stages = 2;
  order.rank_of = {0, 0};
  order.edges = {{StageId(0), StageId(1)}};
  OrderCosts costs = OrderCosts::uniform(order, 1_ns, 10_ns, 100_ns, 1'000'000_ns);
  costs.forward[1] = 7_ns;
  Evaluator evaluator;
  EXPECT_EQ((*evaluator.evaluate(order, costs))->makespan, 228_ns);
}

TEST(Evaluate, AJoinReceivesItsInputsOneAfterTheOtherUnderRendezvous) {
  // 0 -> 2 <- 1, forward only.
  Order order =
      chain_of(1, {{order_op(Op::F, 0, 0)}, {order_op(Op::F, 1, 0)}, {order_op(Op::F, 2, 0)}});
  order.edges = {{StageId(1), StageId(2)}, {StageId(0), StageId(2)}};
  OrderCosts costs = OrderCosts::uniform(order, 10_ns, 0_ns, 0_ns, 5_ns);
  costs.forward[1] = 4_ns;  // there at 4, so received 4-9; the other from 10 to 15
  Evaluator evaluator;
  EXPECT_EQ((*evaluator.evaluate(order, costs, Discipline::Rendezvous))->makespan, 25_ns);
  costs.forward[1] = 10_ns;  // both there at 10: 10-15, 15-20
  EXPECT_EQ((*evaluator.evaluate(order, costs, Discipline::Rendezvous))->makespan, 30_ns);
  EXPECT_EQ((*evaluator.evaluate(order, costs, Discipline::Eager))->makespan, 25_ns);
}

TEST(Evaluate, RecomputationAndUpdatesTakeTheirTimeWhereTheyStand) {
  const Order order = chain_of(1, {{order_op(Op::F, 0, 0), order_op(Op::R, 0, 0),
                                    order_op(Op::BF, 0, 0), order_op(Op::Step, 0, 0)}});
  OrderCosts costs = OrderCosts::uniform(order, 1_ns, 10_ns, 100_ns, 0_ns);
  costs.recompute[0] = 1'000_ns;
  costs.step[0] = 10'000_ns;
  Evaluator evaluator;
  EXPECT_EQ((*evaluator.evaluate(order, costs))->makespan, 11'111_ns);
}

TEST(Evaluate, FusedOperationsStartTogetherAndLastTheSum) {
  Order order = chain_of(
      2, {{order_op(Op::F, 0, 0), order_op(Op::F, 0, 1, 0, true), order_op(Op::BF, 0, 0)}});
  Evaluator evaluator;
  evaluator.record = true;
  ASSERT_TRUE(
      evaluator.evaluate(order, OrderCosts::uniform(order, 3_ns, 5_ns, 7_ns, 0_ns)).has_value());
  EXPECT_EQ(evaluator.starts, (std::vector{0_ns, 3_ns, 3_ns}));
  EXPECT_EQ(evaluator.ends, (std::vector{3_ns, 18_ns, 18_ns}));
  order = chain_of(1, {{order_op(Op::F, 0, 0, 0, true), order_op(Op::BF, 0, 0)}});
  EXPECT_EQ(refusal(order),
            "the order deadlocks: rank 0 at BF 0.0 waits for F 0.0, which rank 0 runs later");
}

TEST(Evaluate, TellsWhoWaitsForWhomInADeadlock) {
  // Rank 1 wants microbatch 1 first and rank 0 sends it only after the gradient of microbatch 0.
  const Order order = chain_of(2, {{order_op(Op::F, 0, 0), order_op(Op::BF, 0, 0),
                                    order_op(Op::F, 0, 1), order_op(Op::BF, 0, 1)},
                                   {order_op(Op::F, 1, 1), order_op(Op::BF, 1, 1),
                                    order_op(Op::F, 1, 0), order_op(Op::BF, 1, 0)}});
  EXPECT_EQ(refusal(order),
            "the order deadlocks: rank 0 at BF 0.0 waits for BF 1.0, which rank 1 runs later; "
            "rank 1 at F 1.1 waits for F 0.1, which rank 0 runs later");
}

TEST(Evaluate, TellsWhichOperationIsInNoList) {
  const Order order =
      chain_of(1, {{order_op(Op::F, 0, 0), order_op(Op::BF, 0, 0)}, {order_op(Op::F, 1, 0)}});
  EXPECT_EQ(refusal(order),
            "the order stops: rank 0 at BF 0.0 waits for B of stage 1, microbatch 0, slice 0, "
            "which is not in the list of rank 1");
}

TEST(Evaluate, AnEmptyOrderTakesNoTime) {
  EXPECT_EQ(makespan(chain_order(3, 2), 1, 1, 1, 1), 0);
  Evaluator evaluator;
  const Order order = chain_order(3, 2);
  EXPECT_EQ((*evaluator.evaluate(order, OrderCosts::uniform(order, 1_ns, 1_ns, 1_ns, 1_ns)))
                ->bubble_fraction(),
            0);
}

TEST(Evaluate, KeepsNothingFromTheCallBefore) {
  Evaluator evaluator;
  const auto run = [&](const Order& order) {
    return (*evaluator.evaluate(order, OrderCosts::uniform(order, 10_ns, 12_ns, 8_ns, 3_ns),
                                Discipline::Rendezvous))
        ->makespan.value;
  };
  const std::int64_t first = run(one_f_one_b(4, 8));
  refusal(chain_of(1, {{order_op(Op::BF, 0, 0), order_op(Op::F, 0, 0)}}));
  EXPECT_NE(run(gpipe(7, 3)), first);
  EXPECT_EQ(run(one_f_one_b(4, 8)), first);
}

}  // namespace
}  // namespace penstock::test
