#include <gtest/gtest.h>

#include <algorithm>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

Program sound() {
  return sample_program(one_f_one_b_order(3, 4));
}

Buffer& row(Program& program, std::int32_t rank, BufferClass cls, std::int32_t microbatch,
            std::int32_t owner = -1) {
  for (std::size_t i = program.first_buffer[static_cast<std::size_t>(rank)];
       i < program.first_buffer[static_cast<std::size_t>(rank) + 1]; ++i) {
    Buffer& buffer = program.buffers[i];
    if (buffer.cls == cls && buffer.microbatch == microbatch &&
        (owner < 0 || buffer.owner == owner))
      return buffer;
  }
  ADD_FAILURE() << "no such buffer";
  return program.buffers[0];
}

TEST(MemoryRules, AByteOverTheLimitIsRefusedWithItsHolders) {
  Program program = sound();
  for (RankProgram& rank : program.ranks) rank.memory_limit = program.arena[0];
  EXPECT_TRUE(check(program).empty());
  program.ranks[0].memory_limit = program.arena[0] - Bytes(1);
  EXPECT_TRUE(refuses(program, "R8", "rank 0: needs "));
  EXPECT_TRUE(refuses(program, "R8", ", 1 bytes over its limit of "));
  EXPECT_TRUE(refuses(program, "R8", "weights of stage 0"));
  EXPECT_TRUE(refuses(program, "R8", "of stage 0 in 3 buffers"));
}

TEST(MemoryRules, NoLimitIsNoLimit) {
  Program program = sound();
  for (RankProgram& rank : program.ranks) EXPECT_EQ(rank.memory_limit, Bytes(0));
  EXPECT_TRUE(check(program).empty());
}

TEST(MemoryRules, BuffersLiveAtOnceLieApart) {
  Program program = sound();
  row(program, 0, BufferClass::Stash, 1).offset =
      row(program, 0, BufferClass::Stash, 0).offset + Bytes(64);
  EXPECT_TRUE(refuses(program, "R8", "are live at once at the same addresses"));
  Program persistent = sound();
  row(persistent, 1, BufferClass::Stash, 3).offset = Bytes(0);
  EXPECT_TRUE(
      refuses(persistent, "R8",
              "the weights buffer of stage 1 and the stash buffer of stage 1, microbatch 3"));
}

TEST(MemoryRules, OffsetsAreAligned) {
  Program program = sound();
  row(program, 0, BufferClass::Workspace, -1).offset += Bytes(4);
  EXPECT_TRUE(refuses(program, "R8", "which is no multiple of 64"));
}

TEST(MemoryRules, ArenaAndLivePeakAreWhatTheRowsSay) {
  Program program = sound();
  program.arena[1] -= Bytes(64);
  EXPECT_TRUE(refuses(program, "R8", ", the arena to "));
  program = sound();
  program.arena[1] += Bytes(64);
  EXPECT_TRUE(refuses(program, "R8", ", the arena to "));
  program = sound();
  program.live_peak[1] -= Bytes(64);
  EXPECT_TRUE(refuses(program, "R8", "bytes are live at once at position"));
}

TEST(MemoryRules, UseBeforeLifetimeIsR8AndAfterItIsR9) {
  Program program = sound();
  row(program, 1, BufferClass::Stash, 2).first += 1;  // RECV writes it one position earlier
  EXPECT_TRUE(refuses(program, "R8", "rank 1: 'RECV 1.2 e0'"));
  program = sound();
  row(program, 1, BufferClass::Stash, 2).last -= 1;
  EXPECT_TRUE(refuses(program, "R9", "rank 1: 'BF 1.2'"));
  program = sound();
  row(program, 0, BufferClass::Data, 0).last -= 1;
  EXPECT_TRUE(
      refuses(program, "R9", "uses the data buffer of stage 0, microbatch 0 after its release"));
  program = sound();
  row(program, 0, BufferClass::Data, 1).first += 1;
  EXPECT_TRUE(refuses(program, "R8", "'LOAD 0.1'"));
  program = sound();
  row(program, 0, BufferClass::ReceiveBuffer, 1).first += 1;
  EXPECT_TRUE(refuses(program, "R8", "'RECV 0.1 e2'"));
  program = sound();
  row(program, 2, BufferClass::SendBuffer, 1).first += 1;
  EXPECT_TRUE(refuses(program, "R8", "'BF 2.1'"));
  program = sound();
  row(program, 1, BufferClass::Weights, -1).last -= 1;
  EXPECT_TRUE(refuses(program, "R8", "is not live through the whole body"));
}

TEST(MemoryRules, ASendBufferOutlivesTheProofOfReceipt) {
  Program program = sound();
  Buffer& buffer = row(program, 0, BufferClass::SendBuffer, 1);
  buffer.last -= 1;
  EXPECT_TRUE(refuses(program, "R9", "its SEND is sure to be over only after 'RECV 0.0 e2'"));
}

TEST(MemoryRules, WithoutAProofABodyMustEndInAWait) {
  Program program = sound();
  std::vector<Instruction>& body = compute(program, 2);
  ASSERT_EQ(body.back().key.op, Op::Wait);
  body.back() = nothing();
  EXPECT_TRUE(refuses(program, "R9", "a WAIT for that SEND is missing"));
}

TEST(MemoryRules, SendBuffersHoldTheirMessage) {
  Program program = sound();
  row(program, 0, BufferClass::SendBuffer, 1).bytes -= Bytes(1);
  EXPECT_TRUE(refuses(program, "R8", "has 255 bytes; a message has 256"));
}

TEST(MemoryRules, WhatIsKeptOrMovedHasABuffer) {
  const auto without = [](std::int32_t rank, BufferClass cls, std::int32_t microbatch) {
    Program program = sound();
    Buffer& buffer = row(program, rank, cls, microbatch);
    const auto at = static_cast<std::size_t>(&buffer - program.buffers.data());
    program.buffers.erase(program.buffers.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t& first : program.first_buffer)
      if (first > at) --first;
    return program;
  };
  EXPECT_TRUE(refuses(without(0, BufferClass::SendBuffer, 2), "R8",
                      "microbatch 2 of edge 0 has no send buffer"));
  EXPECT_TRUE(refuses(without(0, BufferClass::ReceiveBuffer, 2), "R8",
                      "microbatch 2 of edge 2 has no receive buffer"));
  EXPECT_TRUE(refuses(without(1, BufferClass::Stash, 2), "R8",
                      "some microbatches of stage 1 have no stash buffer"));
  EXPECT_TRUE(refuses(without(0, BufferClass::Data, 2), "R8",
                      "some microbatches of stage 0 have no data buffer"));
}

TEST(MemoryRules, MessagesMayHaveNoBuffersAtAll) {
  Program program = sample_program(gpipe_order(2, 3), {.message = Bytes(0)});
  std::vector<Buffer> kept;
  std::vector<std::size_t> first = {0};
  for (std::int32_t r = 0; r < 2; ++r) {
    for (const Buffer& buffer : program.buffers_of(RankId(r)))
      if (buffer.cls == BufferClass::Data || buffer.cls == BufferClass::Stash) kept.push_back(buffer);
    first.push_back(kept.size());
  }
  program.buffers = kept;
  program.first_buffer = first;
  assign_memory(program);
  for (ProgramEdge& edge : program.edges) edge.bytes = Bytes(256);
  program.recipes[2].segments[0].bytes = Bytes(256);
  EXPECT_TRUE(check(program).empty());
}

TEST(MemoryRules, NoKindOfBufferMayBeLeftOutAltogether) {
  const auto without = [](BufferClass cls, std::int32_t rank) {
    Program program = sound();
    std::vector<Buffer> kept;
    std::vector<std::size_t> first = {0};
    for (std::int32_t r = 0; r < 3; ++r) {
      for (const Buffer& buffer : program.buffers_of(RankId(r)))
        if (buffer.cls != cls || (rank >= 0 && r != rank)) kept.push_back(buffer);
      first.push_back(kept.size());
    }
    program.buffers = kept;
    program.first_buffer = first;
    assign_memory(program);
    return program;
  };
  EXPECT_TRUE(refuses(without(BufferClass::Stash, 0), "R8", "some microbatches of stage 0 have no stash buffer"));
  EXPECT_TRUE(refuses(without(BufferClass::Stash, -1), "R8", "some microbatches of stage 1 have no stash buffer"));
  EXPECT_TRUE(refuses(without(BufferClass::Data, -1), "R8", "some microbatches of stage 0 have no data buffer"));
  EXPECT_TRUE(refuses(without(BufferClass::SendBuffer, -1), "R8", "microbatch 0 of edge 0 has no send buffer"));
  EXPECT_TRUE(refuses(without(BufferClass::ReceiveBuffer, -1), "R8", "microbatch 0 of edge 2 has no receive buffer"));
}

TEST(MemoryRules, NoBufferIsThereTwice) {
  Program program = sound();
  row(program, 0, BufferClass::Stash, 2).microbatch = 3;
  EXPECT_TRUE(refuses(program, "R8", "the stash buffer of stage 0, microbatch 3 is there twice"));
}

TEST(MemoryRules, AProgramWithoutBuffersIsJudgedOnItsOrderAlone) {
  Program program = sound();
  program.buffers.clear();
  program.first_buffer = {0, 0, 0, 0};
  program.arena = program.live_peak = std::vector(3, Bytes(0));
  EXPECT_TRUE(check(program).empty());
}

}  // namespace
}  // namespace penstock::test
