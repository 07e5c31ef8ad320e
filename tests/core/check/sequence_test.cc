#include <gtest/gtest.h>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

void swap(Program& program, std::size_t rank, std::size_t a, std::size_t b) {
  std::swap(compute(program, rank)[a], compute(program, rank)[b]);
}

TEST(Sequence, LoadComesBeforeForward) {
  Program program = sample_program(gpipe_order(2, 3));
  swap(program, 0, position(program, 0, Op::Load, 1), position(program, 0, Op::F, 1));
  EXPECT_TRUE(refuses(program, "R4",
                      "rank 0: 'LOAD 0.1' (position 3) must come before 'F 0.1' (position 2)"));
}

TEST(Sequence, TheLossStandsBetweenForwardAndBackward) {
  Program program = sample_program(gpipe_order(2, 3));
  swap(program, 1, position(program, 1, Op::Loss, 1), position(program, 1, Op::F, 1));
  EXPECT_TRUE(refuses(program, "R4", "'F 1.1' (position 5) must come before 'LOSS 1.1'"));
  Program late = sample_program(gpipe_order(2, 3));
  swap(late, 1, position(late, 1, Op::Loss, 0), position(late, 1, Op::BF, 0));
  EXPECT_TRUE(
      refuses(late, "R4", "'LOSS 1.0' (position 9) must come before 'BF 1.0' (position 2)"));
}

TEST(Sequence, BackwardComesAfterForward) {
  Program program = sample_program(one_f_one_b_order(1, 2));
  swap(program, 0, position(program, 0, Op::BF, 0), position(program, 0, Op::Load, 0));
  EXPECT_TRUE(refuses(program, "R4", "must come before 'BF 0.0' (position 0)"));
}

TEST(Sequence, TheInputGradientComesBeforeTheWeightGradient) {
  Program program = sample_program(gpipe_order(2, 2), {.split_backward = true});
  swap(program, 1, position(program, 1, Op::B, 1), position(program, 1, Op::W, 1));
  EXPECT_TRUE(refuses(program, "R4", "must come before 'W 1.1'"));
}

TEST(Sequence, NothingComputesBetweenRecomputingAndTheBackwardThatReadsIt) {
  Program program = sample_program(gpipe_order(1, 2));
  Instruction again = find(program, 0, Op::F, 0);
  again.key.op = Op::R;
  std::vector<Instruction>& body = compute(program, 0);
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(position(program, 0, Op::BF, 0)), again);
  for (const Violation& violation : check(program)) EXPECT_NE(violation.rule, "R4");
  swap(program, 0, position(program, 0, Op::R, 0), position(program, 0, Op::Loss, 1));
  EXPECT_TRUE(refuses(program, "R4", "'LOSS 0.1' (position 6) overwrites what 'R 0.0'"));
}

// The slice of a part is its number, R's is 0.
TEST(Sequence, RecomputingServesAllPartsOfTheBackwardAfterIt) {
  Program program = sample_program(gpipe_order(1, 2));
  std::vector<Instruction>& body = compute(program, 0);
  const std::size_t backward = position(program, 0, Op::BF, 1);
  Instruction again = find(program, 0, Op::F, 1);
  again.key.op = Op::R;
  std::vector<Instruction> pieces = {again};
  for (std::int32_t k = 0; k < 4; ++k) {  // layers 3, 2, 1, 0
    program.recipes.push_back(
        {"part", {{.duration = Nanoseconds(100), .first_layer = 3 - k, .end_layer = 4 - k}}});
    Instruction& part = pieces.emplace_back(body[backward]);
    part.key.slice = static_cast<std::uint8_t>(k);
    part.recipe = static_cast<std::int32_t>(program.recipes.size() - 1);
  }
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(backward));
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(backward), pieces.begin(), pieces.end());
  program.stores[0].layers = 4;
  assign_memory(program);
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(violations.empty()) << violations.front().message;
  std::swap(body[backward], body[backward - 1]);  // R 1, BF 0, then the parts
  EXPECT_TRUE(refuses(program, "R4", "'BF 0.0' (position 7) overwrites what 'R 0.1'"));
}

TEST(Sequence, NothingComputesBetweenAForwardAndTheLossThatReadsIt) {
  Program program = sample_program(gpipe_order(1, 2));
  const std::size_t loss = position(program, 0, Op::Loss, 0);
  swap(program, 0, loss, position(program, 0, Op::Load, 1));  // F 0, LOAD 1, LOSS 0, F 1
  for (const Violation& violation : check(program)) EXPECT_NE(violation.rule, "R4") << violation.message;
  swap(program, 0, loss + 1, position(program, 0, Op::F, 1));  // F 0, LOAD 1, F 1, LOSS 0
  EXPECT_TRUE(refuses(program, "R4",
                      "'F 0.1' (position 3) overwrites what 'F 0.0' (position 1) made for 'LOSS 0.0'"));
  // Without a workspace there is nothing to overwrite.
  std::erase_if(program.buffers, [](const Buffer& row) { return row.cls == BufferClass::Workspace; });
  program.first_buffer.back() = program.buffers.size();
  for (const Violation& violation : check(program)) EXPECT_NE(violation.rule, "R4") << violation.message;
}

TEST(Sequence, SlicesGoForwardInOrderAndBackwardInReverse) {
  Program program = sample_program(gpipe_order(1, 2));
  for (const Op op :
       {Op::Load, Op::F, Op::Loss, Op::BF}) {  // microbatch 1 becomes slice 1 of microbatch 0
    find(program, 0, op, 1).key.slice = 1;
    compute(program, 0)[position(program, 0, op, 1)].key.microbatch = 0;
  }
  program.body_microbatches = 1;
  program.stores[0].accumulation.copies = {{0}};
  program.buffers.clear();
  program.first_buffer = {0, 0};
  program.arena = program.live_peak = {Bytes(0)};
  EXPECT_TRUE(
      refuses(program, "R4", "'BF 0.0.1' (position 7) must come before 'BF 0.0' (position 6)"));
  swap(program, 0, 6, 7);
  EXPECT_TRUE(check(program).empty());
}

TEST(Sequence, AStepComesAfterTheLastBackward) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  swap(program, 0, position(program, 0, Op::Step, -1), position(program, 0, Op::BF, 2));
  EXPECT_TRUE(refuses(
      program, "R10",
      "rank 0: 'BF 0.2' (position 12) comes after 'STEP 0 s0' (position 11) of the same step"));
}

TEST(Sequence, EveryTrainedStoreHasOneStepOfItsOwn) {
  Program none = sample_program(one_f_one_b_order(2, 3));
  find(none, 1, Op::Step, -1) = nothing();
  EXPECT_TRUE(refuses(none, "R10", "store 1 of stage 1 on rank 1 is trained but has no STEP"));
  Program two = sample_program(one_f_one_b_order(2, 3));
  compute(two, 1).push_back(find(two, 1, Op::Step, -1));
  EXPECT_TRUE(refuses(two, "R10",
                      "rank 1: 'STEP 1 s1' is the store's second in one repetition of the body"));
  Program other = sample_program(one_f_one_b_order(2, 3));
  find(other, 1, Op::Step, -1).target = 0;
  EXPECT_TRUE(refuses(other, "R10", "rank 1: 'STEP 1 s0' names a store of another rank or stage"));
  Program frozen = sample_program(one_f_one_b_order(2, 3));
  frozen.stores[0].kind = StoreKind::Frozen;
  EXPECT_TRUE(refuses(frozen, "R10", "'STEP 0 s0' names a store that is not trained"));
}

TEST(Sequence, TheAccumulationTreeIsTheOrderOfTheProgram) {
  const auto with = [](std::vector<std::vector<std::int32_t>> copies) {
    Program program = sample_program(one_f_one_b_order(2, 3));
    program.stores[0].accumulation.copies = std::move(copies);
    return program;
  };
  EXPECT_TRUE(check(with({{0, 1, 2}})).empty());
  EXPECT_TRUE(refuses(with({{0, 1}}), "R12", "names microbatch 2 0 times"));
  EXPECT_TRUE(refuses(with({{0, 1, 2, 1}}), "R12", "names microbatch 1 2 times"));
  EXPECT_TRUE(refuses(with({{0, 1, 3}}), "R12", "names microbatch 3; the body has 3"));
  EXPECT_TRUE(refuses(with({{0, 2, 1}}), "R12",
                      "adds microbatch 2 as number 1; rank 0 adds microbatch 1 then"));
  EXPECT_TRUE(
      refuses(with({{0, 1}, {2}}), "R12", "lists 2 microbatches for copy 0; rank 0 runs 3"));
  EXPECT_TRUE(refuses(with({}), "R12", "names microbatch 0 0 times"));
}

// Rank r calls the collectives `calls[r]`, by microbatch, on group 0.
Program with_collectives(const std::vector<std::vector<std::int32_t>>& calls) {
  Program program = sample_program(gpipe_order(2, 3));
  program.groups.push_back({.kind = GroupKind::GradientNorm, .ranks = {RankId(0), RankId(1)}});
  for (std::size_t r = 0; r < calls.size(); ++r) {
    Stream stream{StreamKind::Collective, EdgeId(), {}, {}, {}};
    for (const std::int32_t microbatch : calls[r])
      stream.body.push_back(
          Instruction{.key = {.op = Op::AllReduce, .microbatch = microbatch}, .target = 0});
    program.ranks[r].streams.push_back(std::move(stream));
  }
  return program;
}

TEST(Collectives, MembersAgreeOnTheirOrder) {
  for (const Violation& violation : check(with_collectives({{0, 1}, {0, 1}})))
    EXPECT_NE(violation.rule, "R6") << violation.message;
  EXPECT_TRUE(refuses(with_collectives({{0, 1}, {1, 0}}), "R6",
                      "call 0 of group 0: rank 0 calls 'ALLREDUCE 0.0 g0', rank 1 calls"));
  EXPECT_TRUE(refuses(with_collectives({{0, 1}, {0}}), "R6",
                      "call 1 of group 0: rank 0 calls 'ALLREDUCE 0.1 g0', rank 1 has ended"));
  EXPECT_TRUE(
      refuses(with_collectives({{0, 1}, {}}), "R6", "1 of the 2 members of group 0 call it"));
}

TEST(Collectives, TwoGroupsAreCalledInOneOrder) {
  Program program = with_collectives({{0}, {0}});
  program.groups.push_back(program.groups[0]);
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<Instruction>& calls = program.ranks[r].streams.back().body;
    calls.push_back(calls[0]);
    calls[1 - r].target = 1;
  }
  EXPECT_TRUE(refuses(program, "R6",
                      "groups 0 and 1 cross: as call 0 of their common groups rank 0 calls group "
                      "0, rank 1 group 1"));
  EXPECT_TRUE(refuses(program, "R5", "rank 0 at ALLREDUCE 0.0 g0 waits for rank 1's ALLREDUCE 0.0 g0"));
}

TEST(Collectives, OnlyMembersCall) {
  Program program = with_collectives({{0}, {0}});
  program.groups[0].ranks = {RankId(0)};
  EXPECT_TRUE(
      refuses(program, "R6", "rank 1: 'ALLREDUCE 0.0 g0', but it is not a member of group 0"));
}

}  // namespace
}  // namespace penstock::test
