#include <gtest/gtest.h>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

OrderOp& at(Order& order, std::int32_t rank, std::size_t i) {
  return order.ops[order.first[static_cast<std::size_t>(rank)] + i];
}

TEST(OrderCheck, ProvesGPipeAndOneFOneB) {
  for (std::int32_t p = 1; p <= 6; ++p)
    for (std::int32_t m = 1; m <= 9; ++m) {
      EXPECT_TRUE(check(gpipe_order(p, m)).empty());
      EXPECT_TRUE(check(one_f_one_b_order(p, m)).empty());
    }
}

TEST(OrderCheck, RefusesLostDoubledAndMisplacedOperations) {
  Order lost = gpipe_order(2, 3);
  at(lost, 1, 1).op = Op::Step;
  EXPECT_TRUE(refuses(check(lost), "R1", "microbatch 1 of stage 1 has no F"));
  Order half = gpipe_order(2, 3);
  at(half, 1, 4).op = Op::B;
  EXPECT_TRUE(
      refuses(check(half), "R1", "microbatch 1 of stage 1 needs one BF, or one B and one W"));
  Order twice = gpipe_order(2, 3);
  at(twice, 1, 1).microbatch = 0;
  EXPECT_TRUE(refuses(check(twice), "R1", "'F 1.0' is there twice"));
  Order elsewhere = gpipe_order(2, 3);
  at(elsewhere, 1, 1).stage = 0;
  EXPECT_TRUE(refuses(check(elsewhere), "R2", "rank 1 runs 'F 0.1', which is placed on rank 0"));
  Order mirrored = gpipe_order(2, 3);
  at(mirrored, 1, 1).direction = 1;
  EXPECT_TRUE(refuses(check(mirrored), "R2", "nowhere: there is one direction"));
  Order beyond = gpipe_order(2, 3);
  at(beyond, 1, 1).microbatch = 3;
  EXPECT_TRUE(refuses(check(beyond), "R1", "'F 1.3' is no operation of this order"));
  Order damaged = gpipe_order(2, 3);
  damaged.first.pop_back();
  EXPECT_TRUE(refuses(check(damaged), "tables", ""));
}

TEST(OrderCheck, TellsTheCycle) {
  Order order = one_f_one_b_order(2, 2);
  std::swap(at(order, 0, 0), at(order, 0, 2));  // BF 0.0 before F 0.0
  EXPECT_TRUE(refuses(check(order), "R5",
                      "the order hangs: rank 0 at 'BF 0.0' waits for 'BF 1.0' of rank 1, rank 1 at "
                      "'F 1.0' waits for "
                      "'F 0.0' of rank 0"));
}

TEST(OrderCheck, NothingOfAStageFollowsItsStep) {
  Order order = one_f_one_b_order(2, 2);
  const std::size_t last = order.of(RankId(0)).size() - 1;
  std::swap(at(order, 0, last), at(order, 0, last - 1));
  EXPECT_TRUE(refuses(check(order), "R10", "rank 0: 'BF 0.1' comes after the STEP of its stage"));
}

TEST(OrderCheck, FusedOperationsCannotWaitForOneAnother) {
  // The last stage may fuse F 1 with BF 0, but not F 1 with BF 1.
  Order order = chain_order(1, 2);
  const auto add = [&](Op op, std::uint32_t microbatch, bool fused) {
    OrderOp entry{.op = op};
    entry.microbatch = microbatch & 0xff;
    entry.fused = fused ? 1 : 0;
    order.ops.push_back(entry);
  };
  add(Op::F, 0, false);
  add(Op::F, 1, true);
  add(Op::BF, 0, false);
  add(Op::BF, 1, false);
  order.first = {0, order.ops.size()};
  EXPECT_TRUE(check(order).empty());
  order.ops[2].microbatch = 1;
  order.ops[3].microbatch = 0;
  EXPECT_TRUE(refuses(check(order), "R5", "rank 0 at 'F 0.1' waits for 'F 0.1' of rank 0") ||
              refuses(check(order), "R5", "waits for 'F 0.1' of rank 0"));
}

TEST(OrderCheck, SlicesWaitForTheirNeighbours) {
  Order order = chain_order(1, 1);
  order.slices = 2;
  for (const auto& [op, slice] : {std::pair(Op::F, 0), {Op::F, 1}, {Op::BF, 1}, {Op::BF, 0}})
    order.ops.push_back({.op = op, .slice = static_cast<std::uint8_t>(slice)});
  order.first = {0, 4};
  EXPECT_TRUE(check(order).empty());
  std::swap(order.ops[2], order.ops[3]);
  EXPECT_TRUE(refuses(check(order), "R5", "'BF 0.0' waits for 'BF 0.0.1'"));
  std::swap(order.ops[2], order.ops[3]);
  std::swap(order.ops[0], order.ops[1]);
  EXPECT_TRUE(refuses(check(order), "R5", "'F 0.0.1' waits for 'F 0.0'"));
}

TEST(OrderCheck, SplitBackwardsWaitForTheirHalves) {
  Order order = chain_order(1, 1);
  for (const Op op : {Op::F, Op::W, Op::B}) order.ops.push_back({.op = op});
  order.first = {0, 3};
  EXPECT_TRUE(refuses(check(order), "R5", "'W 0.0' waits for 'B 0.0'"));
  std::swap(order.ops[1], order.ops[2]);
  EXPECT_TRUE(check(order).empty());
}

}  // namespace
}  // namespace penstock::test
