#include "core/program.h"

#include <gtest/gtest.h>

#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Program, RecipesLastAsLongAsTheirSegmentsTogether) {
  Recipe recipe{"F", {}};
  EXPECT_EQ(recipe.duration(), Nanoseconds(0));
  recipe.segments.resize(2);
  recipe.segments[0].duration = Nanoseconds(7);
  recipe.segments[1].duration = Nanoseconds(5);
  EXPECT_EQ(recipe.duration(), Nanoseconds(12));
}

// 1F1B on p ranks: F and BF everywhere, a SEND and a RECV for each of 2(p-1) messages a microbatch,
// one LOAD and one LOSS, a STEP a rank, a WAIT an edge.
TEST(Program, CountsInstructionsOfAllRanksStreamsAndSections) {
  Program program = sample_program(one_f_one_b_order(4, 5));
  const std::size_t expected = 5 * (4 * 2 + 2 * 6 + 2) + 4 + 6;
  EXPECT_EQ(program.instruction_count(), expected);
  program.ranks[1].streams[0].prologue.resize(2);
  program.ranks[3].streams[1].epilogue.resize(3);
  EXPECT_EQ(program.instruction_count(), expected + 5);
}

TEST(Program, ResidentBytesCountWhatTheVectorsHold) {
  Program program;
  EXPECT_EQ(program.resident_bytes(), 0u);
  program.buffers.reserve(10);
  EXPECT_EQ(program.resident_bytes(), 10 * sizeof(Buffer));
  program.name = std::string(100, 'x');
  EXPECT_GE(program.resident_bytes(), 10 * sizeof(Buffer) + 101);
  const Program sample = sample_program(one_f_one_b_order(4, 50));
  EXPECT_GE(sample.resident_bytes(), sample.instruction_count() * sizeof(Instruction) +
                                         sample.buffers.size() * sizeof(Buffer));
}

TEST(Program, BuffersLieByRank) {
  const Program program = sample_program(one_f_one_b_order(3, 2));
  std::size_t sum = 0;
  for (std::int32_t r = 0; r < 3; ++r) {
    for (const Buffer& buffer : program.buffers_of(RankId(r))) EXPECT_EQ(buffer.stage, r);
    sum += program.buffers_of(RankId(r)).size();
  }
  EXPECT_EQ(sum, program.buffers.size());
}

}  // namespace
}  // namespace penstock::test
