#include "exec/watchdog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exec/run.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

// A program whose rank 0 forgets to send one activation: the checker would refuse it, so it is run unchecked.
Program without_one_send(Program program, std::int32_t microbatch) {
  for (RankProgram& rank : program.ranks) {
    for (Stream& stream : rank.streams) {
      if (stream.kind != StreamKind::Send) continue;
      const ProgramEdge& edge = program.edges[stream.edge.index()];
      if (edge.payload != Payload::Activation) continue;
      const auto lost = std::find_if(stream.body.begin(), stream.body.end(),
                                     [&](const Instruction& i) { return i.key.microbatch == microbatch; });
      stream.body.erase(lost);
    }
  }
  for (Instruction& instruction : program.ranks[0].streams[0].body) {
    // The closing WAITs speak of places behind the lost one.
    if (instruction.key.op == Op::Wait && instruction.after_index > 0) --instruction.after_index;
  }
  return program;
}

TEST(Watchdog, ALostMessageEndsTheRunWithTheStoryOfWhoWaitsForWhom) {
  Plan plan = test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "1f1b", 2, 1);
  RunOptions options;
  options.steps = 2;
  options.data = test::sample_text();
  options.deadline = Nanoseconds(300'000'000);
  const auto result = run(plan, without_one_send(test::sample_program(plan), 3), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RunFailed);
  const std::string& story = result.error().message;
  EXPECT_NE(story.find("the run hangs"), std::string::npos) << story;
  EXPECT_NE(story.find("rank 1 waits at RECV"), std::string::npos) << story;
  EXPECT_NE(story.find("rank 0"), std::string::npos) << story;
}

TEST(Watchdog, ARunThatMovesIsLeftAlone) {
  const Plan plan = test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "gpipe", 2, 1);
  RunOptions options;
  options.steps = 50;
  options.data = test::sample_text();
  options.deadline = Nanoseconds(2'000'000'000);
  EXPECT_TRUE(run(plan, test::sample_program(plan), options));
}

TEST(Watchdog, AMemberThatNeverComesIsNamedWithItsGroup) {
  const Plan plan = test::replicated_plan("mlp:layers=5,width=48,batch=8", "1f1b", {2, 1}, Split::Batch, 2);
  Program program = test::sample_program(plan);
  // Rank 1 forgets its all-reduce: what stood there waits for nothing and does nothing.
  Stream& calls = program.ranks[1].streams.back();
  ASSERT_EQ(calls.kind, StreamKind::Collective);
  calls.body.back().key.op = Op::Wait;
  RunOptions options;
  options.steps = 1;
  options.data = test::sample_text();
  options.deadline = Nanoseconds(300'000'000);
  const auto result = run(plan, program, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RunFailed);
  const std::string& story = result.error().message;
  EXPECT_NE(story.find("the run hangs"), std::string::npos) << story;
  EXPECT_NE(story.find("ALLREDUCE"), std::string::npos) << story;
  EXPECT_NE(story.find("group 0, missing ranks: 1"), std::string::npos) << story;
}

}  // namespace
}  // namespace penstock
