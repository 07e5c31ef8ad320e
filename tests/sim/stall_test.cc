#include "sim/stall.h"

#include <gtest/gtest.h>

#include "sim/engine.h"
#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

TEST(Stall, TellsWhoWaitsForWhomWhenNothingMoves) {
  // Both send before they receive, in their only stream.
  Program program;
  program.recipes = {recipe_of(Nanoseconds(5))};
  program.ranks.resize(2);
  for (std::int32_t r = 0; r < 2; ++r) {
    program.edges.push_back(edge_between(r, 1 - r));
    Instruction send, receive;
    send.key = {.op = Op::Send, .stage = static_cast<std::uint16_t>(r), .microbatch = 0};
    receive.key = {.op = Op::Recv, .stage = static_cast<std::uint16_t>(r), .microbatch = 0};
    send.recipe = receive.recipe = 0;
    send.target = r;
    receive.target = 1 - r;
    program.ranks[static_cast<std::size_t>(r)].streams = {stream_of({send, receive})};
  }
  const auto stuck = simulate(program);
  ASSERT_FALSE(stuck.has_value());
  EXPECT_EQ(stuck.error().code, ErrorCode::Infeasible);
  EXPECT_EQ(
      stuck.error().message,
      "the program stops at 0 ns: rank 0 stream 0 at SEND 0.0 e0 r0 waits for the RECV of edge 0; "
      "rank 1 stream 0 at SEND 1.0 e1 r0 waits for the RECV of edge 1");
  EXPECT_TRUE(simulate(program, {.discipline = Discipline::Eager}).has_value());
  program.ranks[1].streams[0].body.clear();
  const auto alone = simulate(program);
  ASSERT_FALSE(alone.has_value());
  EXPECT_EQ(alone.error().message,
            "the program stops at 0 ns: rank 0 stream 0 at SEND 0.0 e0 r0 waits for the RECV of "
            "edge 0, which never comes");
}

TEST(Stall, TellsOfAnInstructionOfAnotherStreamThatNeverComes) {
  // The sender's stream waits for a computation, which waits for the SEND.
  Program program;
  program.recipes = {recipe_of(Nanoseconds(5))};
  program.edges = {edge_between(0, 1)};
  program.ranks.resize(2);
  Instruction send, compute, receive;
  send.key = {.op = Op::Send, .microbatch = 0};
  compute.key = {.op = Op::F, .microbatch = 0};
  receive.key = {.op = Op::Recv, .stage = 1, .microbatch = 0};
  send.target = receive.target = 0;
  send.after_stream = 0;
  compute.after_stream = 1;
  program.ranks[0].streams = {stream_of({compute}), stream_of({send}, EdgeId(0))};
  program.ranks[1].streams = {stream_of({receive})};
  const auto stuck = simulate(program);
  ASSERT_FALSE(stuck.has_value());
  EXPECT_EQ(stuck.error().message,
            "the program stops at 0 ns: rank 0 stream 0 at F 0.0 after 1:0 waits for instruction 0 "
            "of stream 1; "
            "rank 0 stream 1 at SEND 0.0 e0 after 0:0 waits for instruction 0 of stream 0");
}

TEST(Stall, NamesTheMembersOfAGroupThatHaveNotCome) {
  Program program;
  program.recipes = {recipe_of(Nanoseconds(5))};
  program.groups.push_back({.ranks = {RankId(0), RankId(1), RankId(2)}});
  program.ranks.resize(3);
  for (std::uint8_t r = 0; r < 3; ++r) {
    Instruction call{.key = {.op = Op::AllReduce, .direction = r}, .recipe = 0, .target = 0};
    program.ranks[r].streams = {stream_of(r == 1 ? std::vector<Instruction>() : std::vector{call})};
  }
  const auto stuck = simulate(program);
  ASSERT_FALSE(stuck.has_value());
  EXPECT_EQ(stuck.error().message,
            "the program stops at 0 ns: rank 0 stream 0 at ALLREDUCE 0 g0 r0 waits for group 0, "
            "which rank 1 has not reached, which never comes");
}

}  // namespace
}  // namespace penstock::test
