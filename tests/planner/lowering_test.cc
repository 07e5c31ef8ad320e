#include "planner/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/program_check.h"
#include "planner/lower.h"
#include "planner/schedules/built_in.h"

namespace penstock {
namespace {

Order emitted(const Schedule& schedule, std::int32_t p, std::int32_t m) {
  Shape shape;
  shape.stages = p;
  shape.microbatches = m;
  return *emit(schedule, shape);
}

OrderCosts costs_of(const Order& order) {
  return OrderCosts::uniform(order, Nanoseconds(10), Nanoseconds(12), Nanoseconds(8),
                             Nanoseconds(3));
}

std::vector<std::string> texts(const std::vector<Instruction>& body) {
  std::vector<std::string> out;
  for (const Instruction& instruction : body) {
    std::string line = text(instruction.key);
    if (instruction.target >= 0) line += " #" + std::to_string(instruction.target);
    if (instruction.after_stream >= 0)
      line += " after " + std::to_string(instruction.after_stream) + ":" +
              std::to_string(instruction.after_index);
    out.push_back(line);
  }
  return out;
}

TEST(Lowering, TurnsTwoStagesIntoTheStreamsOfTheExample) {
  const Order order = with_steps(emitted(one_f_one_b(), 2, 2));
  const Program program = lower(order, costs_of(order), Bytes(100));
  ASSERT_EQ(program.ranks.size(), 2u);
  using Lines = std::vector<std::string>;
  EXPECT_EQ(texts(program.ranks[0].streams[0].body),
            (Lines{"F 0.0", "F 0.1", "RECV 0.0 #1", "BF 0.0", "RECV 0.1 #1", "BF 0.1", "STEP 0 #0",
                   "WAIT 0.1 after 1:1"}));
  EXPECT_EQ(texts(program.ranks[0].streams[1].body),
            (Lines{"SEND 0.0 #0 after 0:0", "SEND 0.1 #0 after 0:1"}));
  EXPECT_EQ(texts(program.ranks[1].streams[0].body),
            (Lines{"RECV 1.0 #0", "F 1.0", "BF 1.0", "RECV 1.1 #0", "F 1.1", "BF 1.1", "STEP 1 #1",
                   "WAIT 1.1 after 1:1"}));
  EXPECT_EQ(texts(program.ranks[1].streams[1].body),
            (Lines{"SEND 1.0 #1 after 0:2", "SEND 1.1 #1 after 0:5"}));

  EXPECT_EQ(program.body_microbatches, 2);
  EXPECT_EQ(program.body_steps, 1);
  ASSERT_EQ(program.edges.size(), 2u);
  EXPECT_EQ(program.edges[0].payload, Payload::Activation);
  EXPECT_EQ(program.edges[1].payload, Payload::Gradient);
  EXPECT_EQ(program.edges[1].source, RankId(1));
  EXPECT_EQ(program.edges[1].from, StageId(1));
  EXPECT_EQ(program.edges[1].bytes, Bytes(100));
}

TEST(Lowering, GivesEachStageAndOperationOneRecipe) {
  const Order order = with_steps(emitted(gpipe(), 3, 4));
  const Program program = lower(order, costs_of(order), Bytes(64));
  std::vector<std::string> names;
  for (const Recipe& recipe : program.recipes) names.push_back(recipe.name);
  EXPECT_EQ(names, (std::vector<std::string>{"F stage 0", "BF stage 0", "STEP stage 0", "F stage 1",
                                             "BF stage 1", "STEP stage 1", "F stage 2",
                                             "BF stage 2", "STEP stage 2",
                                             "activation stage 0 to 1", "activation stage 1 to 2",
                                             "gradient stage 1 to 0", "gradient stage 2 to 1"}));
  EXPECT_EQ(program.recipes[1].duration(), Nanoseconds(20));
  EXPECT_EQ(program.recipes[9].segments[0].kind, SegmentKind::Transfer);
  EXPECT_EQ(program.recipes[9].duration(), Nanoseconds(3));
}

TEST(Lowering, AddsGradientsInTheOrderInWhichTheRankComputesThem) {
  Order order = emitted(gpipe(), 2, 3);
  std::reverse(order.ops.begin() + 3, order.ops.begin() + 6);  // rank 0 goes backward from the last
  std::reverse(order.ops.begin() + 9, order.ops.end());
  const Program program = lower(with_steps(order), costs_of(order), Bytes(64));
  ASSERT_EQ(program.stores.size(), 2u);
  EXPECT_EQ(program.stores[1].accumulation.copies,
            (std::vector<std::vector<std::int32_t>>{{2, 1, 0}}));
  EXPECT_EQ(program.stores[1].rank, RankId(1));
}

TEST(Lowering, ABareScheduleKeepsOneByteAnActivation) {
  const Order order = emitted(one_f_one_b(), 4, 8);
  const Program program = lower(order, costs_of(order), Bytes(64));
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(program.buffers_of(RankId(rank)).size(), 8u);
    EXPECT_EQ(program.arena[static_cast<std::size_t>(rank)], Bytes(kTensorAlignment * (4 - rank)));
  }
}

// Several stages on one rank, halves of the backward apart, slices: nothing in lowering assumes one
// stage a rank.
TEST(Lowering, StagesOfOneRankNeedNoMessages) {
  Order order;  // stages 0 and 2 on rank 0, stage 1 on rank 1
  order.ranks = 2;
  order.stages = 3;
  order.microbatches = 1;
  order.slices = 2;
  order.rank_of = {0, 1, 0};
  order.edges = {{StageId(0), StageId(1)}, {StageId(1), StageId(2)}, {StageId(0), StageId(2)}};
  const auto op = [](Op kind, std::uint16_t stage, std::uint8_t slice) {
    OrderOp out;
    out.op = kind;
    out.stage = stage;
    out.slice = slice;
    return out;
  };
  order.ops = {op(Op::F, 0, 0),  op(Op::F, 0, 1),  op(Op::F, 2, 0), op(Op::F, 2, 1),
               op(Op::B, 2, 1),  op(Op::B, 2, 0),  op(Op::W, 2, 1), op(Op::W, 2, 0),
               op(Op::BF, 0, 1), op(Op::BF, 0, 0), op(Op::F, 1, 0), op(Op::F, 1, 1),
               op(Op::BF, 1, 1), op(Op::BF, 1, 0)};
  order.first = {0, 10, 14};
  const Program program = lower(with_steps(order), costs_of(order), Bytes(64));
  EXPECT_EQ(program.edges.size(), 4u);  // 0-1 and 1-2, both ways; 0-2 stays on rank 0
  EXPECT_EQ(program.ranks[0].streams.size(), 3u);
  EXPECT_EQ(program.ranks[0].streams[0].body.size(),
            10u + 4u + 2u + 2u);  // operations, RECVs, STEPs, WAITs
  for (const Violation& violation : check(program))
    ADD_FAILURE() << violation.rule << ": " << violation.message;
}

TEST(Lowering, EveryBareProgramIsProvedUnderBothDisciplines) {
  for (const Schedule& schedule : schedules()) {
    for (std::int32_t p = 1; p <= 6; ++p) {
      for (std::int32_t m = 1; m <= 9; ++m) {
        const Order order = with_steps(emitted(schedule, p, m));
        for (const Violation& violation : check(lower(order, costs_of(order), Bytes(64))))
          ADD_FAILURE() << schedule.name << " " << p << "x" << m << " " << violation.rule << ": "
                        << violation.message;
        EXPECT_TRUE(check(order).empty()) << schedule.name << " " << p << "x" << m;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
