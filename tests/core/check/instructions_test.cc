#include <gtest/gtest.h>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Instructions, ABodyIsTheOneStepThatItsStoresAreSteppedIn) {
  EXPECT_TRUE(is_refused([](Program& p) { p.body_steps = 2; }, "R10",
                         "a repetition of the body is said to be 2 steps"));
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 0, Op::F, 1).key.step = 1; }, "keys",
                         "rank 0: 'F 0.1 t1' is of step 1 of a body of one step"));
}

TEST(Instructions, WaitWaitsForAnotherStream) {
  EXPECT_TRUE(is_refused([](Program& p) { compute(p, 0).push_back(nothing()); }, "R5", "rank 0: 'WAIT 0' waits for nothing"));
  EXPECT_TRUE(is_refused(
      [](Program& p) {
        Instruction itself = nothing();
        itself.after_stream = 0;
        itself.after_index = static_cast<std::uint32_t>(compute(p, 0).size());
        compute(p, 0).push_back(itself);
      },
      "R5", "'WAIT 0' waits for instruction 14 of its own stream"));
  EXPECT_TRUE(is_refused([](Program& p) { compute(p, 0)[3].after_stream = 0; }, "R5", "waits for instruction 0 of its own stream"));
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 0, Op::Wait, -1).recipe = 0; }, "recipes", "waiting is all that it does"));
}

TEST(Instructions, AStageIsOfOneNetwork) {
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 1, Op::F, 1).key.network = 1; }, "keys",
                         "rank 1: 'F 1.1 n1' is of network 1; stage 1 is of network 0"));
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[1].network = NetworkId(1); }, "keys",
                         "is of network 0; stage 1 is of network 1"));
}

TEST(Instructions, AStepIsOfAllMicrobatchesOfItsCopy) {
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 1, Op::Step, -1).key.microbatch = 0; }, "keys", "is of microbatch 0; it is of all"));
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 1, Op::Step, -1).key.direction = 1; }, "keys", "is of copy 1; the rank holds copy 0"));
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 1, Op::Step, -1).key.slice = 1; }, "keys", "is numbered 1, where 0 is next"));
}

TEST(Instructions, ARecipeIsOfTheKindOfWorkThatUsesIt) {
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 0, Op::F, 1).recipe = 2; }, "recipes", "'F 0.1' is made of 'transfer', of which a part is a transfer"));
  EXPECT_TRUE(is_refused([](Program& p) { find(p, 1, Op::Recv, 1).recipe = 0; }, "recipes", "'RECV 1.1 e0' is made of 'F', of which a part is a compute"));
  EXPECT_TRUE(is_refused([](Program& p) { p.recipes[0].segments[0].end_layer = 2; }, "recipes", "only BF comes in parts"));
  EXPECT_TRUE(is_refused(
      [](Program& p) {
        p.recipes[1].segments.push_back(p.recipes[1].segments[0]);
        p.recipes[1].segments[1].end_layer = 2;
      },
      "recipes", "name different layers"));
}

// One rank that gathers its own norms.
Program gathering() {
  Program program = sample_program(gpipe_order(1, 2));
  program.groups = {{.kind = GroupKind::GradientNorm, .ranks = {RankId(0)}, .bytes = Bytes(16)}};
  program.recipes.push_back({"GATHER", {{SegmentKind::Collective, Nanoseconds(1), Bytes(16), GroupId(0)}}});
  std::vector<Instruction>& body = compute(program, 0);
  Instruction gather = find(program, 0, Op::Step, -1);
  gather.key.op = Op::Gather;
  gather.target = 0;
  gather.recipe = static_cast<std::int32_t>(program.recipes.size()) - 1;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(position(program, 0, Op::Step, -1)), gather);
  return program;
}

TEST(Instructions, ACollectiveMovesWhatItsGroupHas) {
  for (const Violation& violation : check(gathering())) EXPECT_NE(violation.rule, "recipes") << violation.message;
  Program bytes = gathering();
  bytes.recipes.back().segments[0].bytes = Bytes(24);
  EXPECT_TRUE(refuses(bytes, "recipes", "moves 24 bytes; its group's members have 16"));
  Program group = gathering();
  group.groups.push_back(group.groups[0]);
  group.recipes.back().segments[0].group = GroupId(1);
  EXPECT_TRUE(refuses(group, "recipes", "is made of 'GATHER', which is of group 1"));
}

}  // namespace
}  // namespace penstock::test
