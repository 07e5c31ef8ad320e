#include "sim/memory.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace penstock::test
