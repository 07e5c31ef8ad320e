#include <gtest/gtest.h>

#include <algorithm>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Arrivals, ACopyThatNoEdgeReachesIsFound) {
  for (const std::int32_t gone : {0, 1}) {
    Program program = sample_program(gpipe_order(3, 2));
    EXPECT_TRUE(check(program).empty());
    // A second tensor crosses, on an edge of its own: first to the right copy, then from a wrong one.
    ProgramEdge other = program.edges[static_cast<std::size_t>(gone)];
    other.tensors = {LayerId(77)};
    program.edges.push_back(other);
    EXPECT_TRUE(refuses(program, "R3", "has no SEND on edge 4"));
    program.edges.back().source = RankId(gone == 0 ? 2 : 0);
    EXPECT_TRUE(refuses(program, "R3",
                        gone == 0 ? "microbatch 0 of stage 1 on rank 1 lacks layer 77 of stage 0's activation"
                                  : "microbatch 0 of stage 2 on rank 2 lacks layer 77 of stage 1's activation"));
  }
}

TEST(Arrivals, GradientsComeBackOfWhatWentThere) {
  Program other = sample_program(gpipe_order(3, 2));
  other.edges[3].tensors = {LayerId(5)};
  EXPECT_TRUE(refuses(other, "R3", "edge 1 takes activations of stage 1 on rank 1 to stage 2 on rank 2, and no edge of the same "
                                   "tensors, samples and bytes brings their gradients back"));
  Program none = sample_program(gpipe_order(3, 2));
  none.edges[1].payload = Payload::Weight;
  EXPECT_TRUE(refuses(none, "R3", "edge 3 takes gradients of stage 2 on rank 2 to stage 1 on rank 1, and no edge of the same "
                                  "tensors, samples and bytes took their activations there"));
}

TEST(Arrivals, AMessageThatIsAllOfABufferBeginsWithIt) {
  for (const bool sends : {true, false}) {
    Program program = sample_program(gpipe_order(2, 2));
    (sends ? program.edges[0].send_offset : program.edges[0].receive_offset) = Bytes(64);
    EXPECT_TRUE(refuses(program, "R8", sends ? "rank 0: a message of edge 0 is sent from byte 64"
                                             : "rank 1: a message of edge 0 is received at byte 64"));
  }
}

TEST(Arrivals, WhatIsReceivedFitsTheStash) {
  Program program = sample_program(gpipe_order(2, 2), {.stash = Bytes(128), .message = Bytes(256)});
  EXPECT_TRUE(refuses(program, "R8", "rank 1: messages to stage 1 reach to byte 256 of the stash of microbatch 0, which has 128"));
}

}  // namespace
}  // namespace penstock::test
