#include "sim/memory.h"

#include <gtest/gtest.h>

#include "core/layout.h"

namespace penstock::test {
namespace {

Buffer buffer(BufferClass cls, std::uint32_t first, std::uint32_t last, std::int64_t bytes) {
  Buffer made;
  made.cls = cls;
  made.first = first;
  made.last = last;
  made.bytes = Bytes(bytes);
  return made;
}

TEST(LiveMemory, AddsUpWhatIsLiveAtEachPositionInWholeTensorUnits) {
  Program program;
  program.ranks.resize(2);
  for (RankProgram& rank : program.ranks) rank.streams.resize(1);
  program.ranks[0].streams[0].body.resize(4);
  program.buffers = {buffer(BufferClass::Weights, 0, 3, 1000), buffer(BufferClass::Stash, 0, 2, 64),
                     buffer(BufferClass::Stash, 2, 2, 65), buffer(BufferClass::Optimizer, 0, 0, 1)};
  program.first_buffer = {0, 3, 4};
  const LiveMemory memory = live_memory(program, RankId(0));
  EXPECT_EQ(memory.always, Bytes(1024));
  EXPECT_EQ(memory.at, (std::vector{Bytes(1088), Bytes(1088), Bytes(1216), Bytes(1024)}));
  EXPECT_EQ(memory.peak, Bytes(1216));
  EXPECT_EQ(live_memory(program, RankId(1)).peak, Bytes(64))
      << "a rank without instructions holds what it holds";
}

// Rank 1's stashes are not packed perfectly: when the last comes, what is free lies in two pieces.
//   position     0    1    2    3    4    5
//   a 192                  x                   at  64
//   b  64        x    x    x    x              at   0
//   c 192                                 x    at 128: below it lies only d
//   d  64                       x    x    x    at  64
TEST(LiveMemory, IsLessThanTheLayoutWhereWhatIsFreeLiesInPieces) {
  Program program;
  program.ranks.resize(2);
  for (RankProgram& rank : program.ranks) {
    rank.streams.resize(1);
    rank.streams[0].body.resize(6);
  }
  program.buffers = {buffer(BufferClass::Weights, 0, 5, 256), buffer(BufferClass::Stash, 1, 2, 512),
                     buffer(BufferClass::Stash, 2, 2, 192),   buffer(BufferClass::Stash, 0, 3, 64),
                     buffer(BufferClass::Stash, 5, 5, 192),   buffer(BufferClass::Stash, 3, 5, 64)};
  program.first_buffer = {0, 2, 6};
  for (const std::int64_t rank : {0, 1}) {
    std::vector<Lifetime> rows;
    for (const Buffer& row : program.buffers_of(RankId(rank))) rows.push_back({row.first, row.last, row.bytes});
    const Layout layout = lay_out(rows);
    const LiveMemory memory = live_memory(program, RankId(rank));
    EXPECT_EQ(memory.peak, layout.live_peak);
    EXPECT_EQ(layout.peak, Bytes(rank == 0 ? 256 + 512 : 128 + 192));
    EXPECT_EQ(memory.peak, Bytes(rank == 0 ? 256 + 512 : 64 + 192));
  }
  EXPECT_EQ(live_memory(program, RankId(1)).at,
            (std::vector{Bytes(64), Bytes(64), Bytes(256), Bytes(128), Bytes(64), Bytes(256)}));
}

}  // namespace
}  // namespace penstock::test
