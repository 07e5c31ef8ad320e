#include <gtest/gtest.h>

#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

// The number stands in a file: nothing is allocated for it.
TEST(IndexShape, MoreStagesThanInstructionsAreRefusedAtOnce) {
  Program program = sample_program(gpipe_order(2, 3));
  program.stages = 2'000'000'000;
  EXPECT_TRUE(refuses(program, "R1", "2000000000 stages"));
  program.stores[0].stage = StageId(1'999'999'999);
  EXPECT_FALSE(check(program).empty());
}

TEST(IndexShape, CopiesThatShareMicrobatchesMakeThemUp) {
  Program program = sample_program(gpipe_order(2, 3));
  program.microbatch_size = 4;
  program.stores[0].samples = 3;
  EXPECT_TRUE(refuses(program, "R1", "the copies of stage 0 do not share out a microbatch: they have 3 of 4 samples"));
  program.stores[0].samples = 5;
  EXPECT_TRUE(refuses(program, "R1", "copy 0 ends beyond the last of 4 samples"));
  program.stores[0].samples = 4;
  EXPECT_TRUE(check(program).empty());
}

}  // namespace
}  // namespace penstock::test
