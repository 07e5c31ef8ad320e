#include "sim/examine.h"

#include <gtest/gtest.h>

#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

struct Examined {
  Program program;
  std::vector<StreamState> streams{2};
  std::vector<EdgeState> edges{1};
  std::vector<GroupState> groups;

  Examined() {
    program.recipes = {recipe_of(Nanoseconds(5))};
    program.edges = {edge_between(0, 1)};
    streams[1].rank = 1;
  }
  Result<void> look(Op op, std::uint32_t stream, std::uint16_t group = 0) {
    Instruction instruction;
    instruction.key.op = op;
    instruction.recipe = 0;
    instruction.target = is_transfer(op) ? 0 : -1;
    instruction.group = group;
    return examine(program, instruction, stream, streams, edges, groups);
  }
};

TEST(Examine, NotesTheStreamsOfBothEndsOfAnEdge) {
  Examined e;
  EXPECT_TRUE(e.look(Op::F, 0));
  EXPECT_TRUE(e.look(Op::Send, 0));
  EXPECT_TRUE(e.look(Op::Recv, 1));
  EXPECT_EQ(e.edges[0].sender, 0u);
  EXPECT_EQ(e.edges[0].receiver, 1u);
}

TEST(Examine, RefusesByNameWhatTheEngineDoesNotRun) {
  Examined e;
  for (const Op op : {Op::Offload, Op::Publish}) {
    const auto refused = e.look(op, 1);
    ASSERT_FALSE(refused) << name(op);
    EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
    EXPECT_NE(refused.error().message.find(name(op)), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(e.look(Op::Send, 0, 3));
}

TEST(Examine, WantsAllSendsOfAnEdgeInOneStream) {
  Examined e;
  EXPECT_TRUE(e.look(Op::Send, 0));
  EXPECT_TRUE(e.look(Op::Send, 0));
  const auto refused = e.look(Op::Send, 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("one stream"), std::string::npos);
}

}  // namespace
}  // namespace penstock::test
