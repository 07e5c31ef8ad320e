#include <gtest/gtest.h>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(Coverage, ALostBackwardIsNamed) {
  Program program = sample_program(one_f_one_b_order(3, 4));
  find(program, 1, Op::BF, 2) = nothing();
  EXPECT_TRUE(refuses(program, "R1", "microbatch 2 of stage 1 has no BF"));
}

TEST(Coverage, ALostForwardIsNamed) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::F, 1) = nothing();
  EXPECT_TRUE(refuses(program, "R1", "microbatch 1 of stage 0 has no F"));
}

TEST(Coverage, AForwardTwiceIsNamedWithBothPlaces) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::F, 1).key.microbatch = 2;
  EXPECT_TRUE(refuses(program, "R1", "'F 0.2' is there twice: on rank 0 at position"));
}

TEST(Coverage, AnInputGradientNeedsItsWeightGradient) {
  Program program = sample_program(one_f_one_b_order(2, 3), {.split_backward = true});
  EXPECT_TRUE(check(program).empty());
  find(program, 0, Op::W, 1) = nothing();
  EXPECT_TRUE(refuses(program, "R1", "microbatch 1 of stage 0 has no W to its B"));
  Program whole = sample_program(one_f_one_b_order(2, 3), {.split_backward = true});
  find(whole, 0, Op::W, 1).key.op = Op::BF;
  EXPECT_TRUE(refuses(whole, "R1", "both a full backward and a part of one"));
}

TEST(Coverage, AllMicrobatchesLoadOrNone) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::Load, 1) = nothing();
  EXPECT_TRUE(refuses(program, "R1", "microbatch 1 of stage 0 has no LOAD"));
}

TEST(Coverage, AMicrobatchBeyondTheBodyIsRefused) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::F, 1).key.microbatch = 3;
  EXPECT_TRUE(refuses(program, "R1", "outside the body's 3 by 1"));
}

TEST(Coverage, ComputeOnTheWrongRankIsRefused) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::F, 1).key.stage = 1;
  EXPECT_TRUE(refuses(program, "R2", "rank 0 runs 'F 1.1', but copy 0 of stage 1 is on rank 1"));
}

TEST(Coverage, ADirectionWithoutACopyIsRefused) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::F, 1).key.direction = 1;
  EXPECT_TRUE(refuses(program, "R2", "stage 0 has no copy 1"));
}

TEST(Coverage, WithoutStoresTheRanksOfAMicrobatchMustStillAgree) {
  Program program = sample_program(gpipe_order(2, 3));
  program.stores.clear();
  for (std::size_t r = 0; r < 2; ++r)
    std::erase_if(compute(program, r), [](const Instruction& i) { return i.key.op == Op::Step; });
  find(program, 0, Op::BF, 1).key.stage = 1;
  EXPECT_TRUE(
      refuses(program, "R2", "but rank 0 runs the other operations of that microbatch and stage"));
}

TEST(Coverage, TransfersStandOnTheRanksOfTheirEdge) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 1, Op::Recv, 1).target = 1;
  EXPECT_TRUE(
      refuses(program, "R2", "rank 1 has 'RECV 1.1 e1', but edge 1 enters stage 0 on rank 0"));
}

TEST(Coverage, PartsOfABackwardCoverTheLayersOfTheirStage) {
  Program program = sample_program(gpipe_order(1, 2));
  std::vector<Instruction>& body = compute(program, 0);
  const std::size_t last = position(program, 0, Op::BF, 1);
  for (std::int32_t k = 0; k < 2; ++k)  // layers 2 and 3, then 0 and 1
    program.recipes.push_back({"part", {{.duration = Nanoseconds(100), .first_layer = 2 - 2 * k, .end_layer = 4 - 2 * k}}});
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(last), body[last]);
  for (std::size_t k = 0; k < 2; ++k) {
    body[last + k].key.slice = static_cast<std::uint8_t>(k);
    body[last + k].recipe = static_cast<std::int32_t>(program.recipes.size() - 2 + k);
  }
  program.stores[0].layers = 4;
  assign_memory(program);
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
  program.stores[0].layers = 5;  // the top one is left out
  EXPECT_TRUE(refuses(program, "R1", "'BF 0.1' of layers 2 to 3 does not continue a backward, of which 0 parts went down to layer 5"));
  program.stores[0].layers = 0;  // nobody says how many there are
  EXPECT_TRUE(refuses(program, "R1", "of layers 2 to 3 does not continue a backward"));
}

TEST(Coverage, OperationsThatNoRuleSpeaksOfAreRefusedByName) {
  Program program = sample_program(gpipe_order(2, 3));
  find(program, 0, Op::Wait, -1).key.op = Op::Offload;
  EXPECT_TRUE(refuses(program, "ops", "no rule speaks of OFFLOAD"));
}

TEST(Coverage, ComputeOutsideTheBodyCannotBeProved) {
  Program program = sample_program(gpipe_order(2, 3));
  program.ranks[0].streams[0].prologue.push_back(find(program, 0, Op::F, 1));
  EXPECT_TRUE(refuses(program, "ops", "'F 0.1' stands in the prologue"));
}

}  // namespace
}  // namespace penstock::test
