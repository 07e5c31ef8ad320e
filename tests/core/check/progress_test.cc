#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

Program blocking(const Order& order) {
  return sample_program(order, {.blocking_sends = true});
}

std::vector<std::string> rules(const std::vector<Violation>& violations) {
  std::vector<std::string> out;
  for (const Violation& violation : violations) out.push_back(violation.rule);
  return out;
}

TEST(Progress, BlockingSendsHangOneFOneBUnderRendezvousAlone) {
  for (std::int32_t p = 2; p <= 6; ++p) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      const Program program = blocking(one_f_one_b_order(p, m));
      EXPECT_TRUE(check(program, {.rendezvous = false}).empty()) << p << " " << m;
      const std::vector<Violation> violations = check(program);
      if (m == 1)
        EXPECT_TRUE(violations.empty());
      else
        EXPECT_EQ(rules(violations), std::vector<std::string>{"R7b"}) << p << " " << m;
    }
  }
}

TEST(Progress, TheStoryNamesTheWholeCycle) {
  const std::vector<Violation> violations = check(blocking(one_f_one_b_order(2, 2)));
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].message,
            "the program hangs with sends that complete when they are received: rank 0 at SEND 0.1 "
            "e0 waits for rank 1's RECV 1.1 e0, "
            "which comes after rank 1's SEND 1.0 e1, which waits for rank 0's RECV 0.0 e1, which "
            "comes after rank 0's SEND 0.1 e0, "
            "where we began");
  EXPECT_EQ(violations[0].ranks, (std::vector{RankId(0), RankId(1)}));
  EXPECT_EQ(violations[0].instructions,
            (std::vector<std::string>{"rank 0: SEND 0.1 e0", "rank 1: SEND 1.0 e1"}));
}

TEST(Progress, BlockingSendsDoNotHangGPipe) {
  EXPECT_TRUE(check(blocking(gpipe_order(4, 6))).empty());
}

TEST(Progress, ReceivesOutOfOrderHangUnderR7bAndPassUnderR7a) {
  // Rank 0 sends on two edges from one stream, rank 1 receives the second first.
  Program program = sample_program(gpipe_order(2, 1));
  ProgramEdge second = program.edges[0];
  second.payload = Payload::Weight;
  program.edges.push_back(second);
  Instruction send = program.ranks[0].streams[1].body[0], receive = find(program, 1, Op::Recv, 0);
  send.target = receive.target = 2;
  program.ranks[0].streams[1].kind = StreamKind::Copy;  // serves no edge of its own
  program.ranks[0].streams[1].body.push_back(send);
  compute(program, 1).insert(compute(program, 1).begin(), receive);
  for (Instruction& instruction : program.ranks[1].streams[1].body) ++instruction.after_index;
  program.buffers.clear();
  program.first_buffer = {0, 0, 0};
  program.arena = program.live_peak = {Bytes(0), Bytes(0)};
  EXPECT_TRUE(check(program, {.rendezvous = false}).empty());
  EXPECT_EQ(rules(check(program)), std::vector<std::string>{"R7b"});
  // Posted together they would meet, but no proof covers groups.
  for (Instruction& instruction : program.ranks[0].streams[1].body) instruction.group = 1;
  EXPECT_TRUE(refuses(program, "ops", "is one of a group"));
}

TEST(Progress, ACycleOfReceivesHangsEvenWithBufferedSends) {
  Program program = sample_program(one_f_one_b_order(2, 2));
  // Rank 0 receives gradient 0 before it makes activation 0.
  std::vector<Instruction>& body = compute(program, 0);
  std::rotate(body.begin(),
              body.begin() + static_cast<std::ptrdiff_t>(position(program, 0, Op::Recv, 0)),
              body.begin() + static_cast<std::ptrdiff_t>(position(program, 0, Op::Recv, 0)) + 1);
  for (Instruction& instruction : program.ranks[0].streams[1].body)
    instruction.after_index += instruction.after_index < 4 ? 1 : 0;
  EXPECT_TRUE(refuses(program, "R5",
                      "the program hangs even with buffered sends: rank 0 at RECV 0.0 e1 waits for "
                      "rank 1's SEND 1.0 e1"));
  EXPECT_TRUE(
      refuses(check(program, {.buffered = false}), "R7b", "rank 0 at RECV 0.0 e1 waits for"));
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(std::none_of(violations.begin(), violations.end(),
                           [](const Violation& v) { return v.rule == "R7b"; }));
}

TEST(Progress, AMessageThatNeverComesIsNotACycle) {
  Program program = sample_program(gpipe_order(2, 2));
  program.ranks[0].streams[1].body[1] = nothing();
  EXPECT_TRUE(refuses(program, "R7a",
                      "comes after rank 1's RECV 1.1 e0, which waits for a SEND that no rank has"));
}

TEST(Progress, ASendThatNobodyReceivesHangsUnderRendezvous) {
  Program program = sample_program(gpipe_order(2, 2));
  find(program, 0, Op::Recv, 1) = nothing();
  EXPECT_TRUE(refuses(program, "R7b", "waits for a RECV that no rank has"));
}

TEST(Progress, AWaitForItselfIsACycleOfOne) {
  Program program = sample_program(gpipe_order(1, 1));
  compute(program, 0)[1].after_stream = 0;
  compute(program, 0)[1].after_index = 1;
  EXPECT_TRUE(refuses(program, "R5", "rank 0 at F 0.0 waits for rank 0's F 0.0: itself"));
}

TEST(Progress, LongCyclesAreToldInPart) {
  Program program = blocking(one_f_one_b_order(40, 60));
  const std::vector<Violation> violations = check(program);
  ASSERT_EQ(rules(violations), std::vector<std::string>{"R7b"});
  EXPECT_LT(violations[0].message.size(), 3000u);
  EXPECT_GE(violations[0].instructions.size(), 2u);
}

TEST(Progress, WaitsCountWithinTheirSection) {
  Program program = sample_program(gpipe_order(2, 2));
  Instruction wait = nothing();
  wait.after_stream = 1;
  wait.after_index = 0;
  program.ranks[0].streams[1].prologue.push_back(nothing());
  program.ranks[0].streams[0].prologue = {wait};
  program.ranks[0].streams[1].epilogue.push_back(nothing());
  program.ranks[0].streams[0].epilogue = {wait};
  for (const Violation& violation : check(program))  // of the two that stand in for work
    EXPECT_NE(violation.message.find("'WAIT 0' waits for nothing"), std::string::npos) << violation.message;
  // A prologue cannot wait for what only the other stream's end brings: stream 1 waits for the
  // epilogue of stream 0.
  wait.after_stream = 0;
  program.ranks[0].streams[1].epilogue = {wait};
  EXPECT_TRUE(refuses(program, "R5", "rank 0 at WAIT 0 waits for rank 0's WAIT 0"));
}

TEST(Progress, CollectivesWaitForAllMembers) {
  Program program = sample_program(gpipe_order(2, 2));
  program.groups.push_back({.kind = GroupKind::GradientNorm, .ranks = {RankId(0), RankId(1)}});
  Instruction call{.key = {.op = Op::AllReduce, .microbatch = 0}, .target = 0};
  // Rank 0 before it sends anything, rank 1 after it received everything.
  compute(program, 0)[0].after_stream = 3 - 1;
  program.ranks[0].streams.push_back({StreamKind::Collective, EdgeId(), {}, {call}, {}});
  call.after_stream = 0;
  call.after_index = static_cast<std::uint32_t>(position(program, 1, Op::Recv, 1));
  program.ranks[1].streams.push_back({StreamKind::Collective, EdgeId(), {}, {call}, {}});
  EXPECT_TRUE(refuses(program, "R5",
                      "rank 0 at LOAD 0.0 waits for rank 0's ALLREDUCE 0.0 g0, which waits for "
                      "rank 1's ALLREDUCE 0.0 g0"));
}

}  // namespace
}  // namespace penstock::test
