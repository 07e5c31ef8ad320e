#include <gtest/gtest.h>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

// Three stages: edges 0, 1 carry activations, 2, 3 gradients (3: from stage 2 to 1). Rank 1 sends
// on edges 1 and 2.
Program three_stages() {
  return sample_program(one_f_one_b_order(3, 4));
}

TEST(Messages, ADroppedSendIsMissed) {
  Program program = three_stages();
  std::vector<Instruction>& sends = program.ranks[1].streams[1].body;
  sends.erase(sends.begin() + 1);
  for (Instruction& instruction : compute(program, 1))
    if (instruction.after_stream == 1) --instruction.after_index;
  EXPECT_TRUE(refuses(program, "R3", "edge 1 has 3 SENDs on rank 1 and 4 RECVs on rank 2"));
  EXPECT_TRUE(
      refuses(program, "R3",
              "message 1 of edge 1: rank 1 sends 'SEND 1.2 e1', rank 2 receives 'RECV 2.1 e1'"));
  EXPECT_TRUE(
      refuses(program, "R3",
              "microbatch 1 has no SEND on edge 1, from stage 1 on rank 1 to stage 2 on rank 2"));
}

TEST(Messages, ADroppedPairIsMissedToo) {
  Program program = three_stages();
  for (const Op op : {Op::Send, Op::Recv}) {
    std::vector<Instruction>& body =
        program.ranks[op == Op::Send ? 0 : 1].streams[op == Op::Send ? 1 : 0].body;
    for (Instruction& instruction : body)
      if (instruction.key.op == op && instruction.target == 0 && instruction.key.microbatch == 2)
        instruction = nothing();
  }
  EXPECT_TRUE(refuses(program, "R3", "microbatch 2 has no SEND on edge 0"));
}

TEST(Messages, AnEdgeWithoutAnyTransferIsMissed) {
  Program program = three_stages();
  for (RankProgram& rank : program.ranks)
    for (Stream& stream : rank.streams)
      for (Instruction& instruction : stream.body)
        if (is_transfer(instruction.key.op) && instruction.target == 0) instruction = nothing();
  EXPECT_TRUE(refuses(program, "R3", "microbatch 0 has no SEND on edge 0"));
}

TEST(Messages, SwappedSendsOfAnEdgeDoNotPairUp) {
  Program program = three_stages();
  std::swap(program.ranks[0].streams[1].body[1], program.ranks[0].streams[1].body[2]);
  EXPECT_TRUE(
      refuses(program, "R3",
              "message 1 of edge 0: rank 0 sends 'SEND 0.2 e0', rank 1 receives 'RECV 1.1 e0'"));
}

TEST(Messages, AMessageTwiceIsRefused) {
  Program program = three_stages();
  program.ranks[0].streams[1].body[1].key.microbatch = 2;
  find(program, 1, Op::Recv, 1, 0).key.microbatch = 2;
  EXPECT_TRUE(refuses(program, "R3", "'SEND 0.2 e0' is sent twice"));
}

TEST(Messages, TheRecipeMovesTheBytesOfTheEdge) {
  Program program = three_stages();
  program.edges[2].bytes = Bytes(100);
  EXPECT_TRUE(refuses(program, "R3", "'SEND 1.0 e2' moves 256 bytes; a message of edge 2 has 100"));
}

TEST(Messages, AnEdgeIsServedByOneStreamAtEachEnd) {
  Program program = three_stages();
  program.ranks[0].streams.push_back(
      {StreamKind::Send, EdgeId(0), {}, {program.ranks[0].streams[1].body[3]}, {}});
  program.ranks[0].streams[1].body[3] = nothing();
  EXPECT_TRUE(refuses(
      program, "R3",
      "the SENDs of edge 0 are spread over streams 1 and 2 of rank 0: their order is open"));
}

TEST(Messages, AnEdgeWithinARankHasNoTransfers) {
  Program program = three_stages();
  program.edges[0].destination = RankId(0);
  program.edges[0].to = StageId(0);
  for (Instruction& instruction : compute(program, 1))
    if (instruction.key.op == Op::Recv && instruction.target == 0) instruction = nothing();
  EXPECT_TRUE(refuses(program, "R3", "edge 0 stays on rank 0, yet it has transfers"));
}

TEST(Messages, ASendWaitsForWhatItSends) {
  Program program = three_stages();
  Instruction& send = program.ranks[0].streams[1].body[0];
  --send.after_index;  // LOAD 0.0 instead of F 0.0
  EXPECT_TRUE(refuses(program, "R4",
                      "rank 0: 'SEND 0.0 e0' may start before 'F 0.0', which makes what it sends"));
  send.after_stream = -1;
  EXPECT_TRUE(refuses(program, "R4", "'SEND 0.0 e0' may start before 'F 0.0'"));
}

TEST(Messages, AWaitEarlierInTheStreamIsEnough) {
  Program program = three_stages();
  std::vector<Instruction>& sends = program.ranks[1].streams[2].body;  // gradients to rank 0
  sends[0].after_index = sends[1].after_index;
  sends[1].after_stream = -1;
  const std::vector<Violation> violations = check(program);
  for (const Violation& violation : violations)
    EXPECT_NE(violation.rule, "R4") << violation.message;
}

TEST(Messages, AReceiveComesBeforeItsUse) {
  Program program = three_stages();
  const std::size_t receive = position(program, 1, Op::Recv, 2, 0),
                    forward = position(program, 1, Op::F, 2);
  std::swap(compute(program, 1)[receive], compute(program, 1)[forward]);
  EXPECT_TRUE(refuses(program, "R4",
                      "rank 1: 'F 1.2' may start before 'RECV 1.2 e0' has brought what it reads"));
}

TEST(Messages, AReceiveOutsideTheComputeStreamIsNotProved) {
  Program program = sample_program(one_f_one_b_order(2, 2));
  program.ranks[1].streams.push_back(
      {StreamKind::Receive, EdgeId(0), {}, {find(program, 1, Op::Recv, 0)}, {}});
  find(program, 1, Op::Recv, 0) = nothing();
  EXPECT_TRUE(refuses(program, "ops", "'RECV 1.0 e0' stands in stream 2"));
}

}  // namespace
}  // namespace penstock::test
