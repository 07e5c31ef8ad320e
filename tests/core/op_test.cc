#include "core/op.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Op, EveryNameReadsBack) {
  for (const auto& [op, op_name] : kOpNames) {
    EXPECT_EQ(name(op), op_name);
    EXPECT_EQ(parse_op(op_name), op);
  }
  EXPECT_EQ(parse_op("BW"), std::nullopt);
  EXPECT_EQ(parse_op(""), std::nullopt);
  EXPECT_EQ(parse_op("f"), std::nullopt);
}

TEST(Op, WaitingIsNotBusy) {
  for (const Op op : {Op::Load, Op::F, Op::BF, Op::B, Op::W, Op::R, Op::Loss, Op::Step})
    EXPECT_TRUE(is_busy(op)) << name(op);
  for (const Op op : {Op::Send, Op::Recv, Op::Wait, Op::AllReduce, Op::Free})
    EXPECT_FALSE(is_busy(op)) << name(op);
}

TEST(Op, TargetsAreOfOneTableEach) {
  EXPECT_EQ(target_of(Op::Send), Target::Edge);
  EXPECT_EQ(target_of(Op::Recv), Target::Edge);
  EXPECT_EQ(target_of(Op::AllReduce), Target::Group);
  EXPECT_EQ(target_of(Op::Reshard), Target::Group);
  EXPECT_EQ(target_of(Op::Step), Target::Store);
  EXPECT_EQ(target_of(Op::Refresh), Target::Store);
  EXPECT_EQ(target_of(Op::F), Target::None);
  EXPECT_EQ(target_of(Op::Wait), Target::None);
}

}  // namespace
}  // namespace penstock
