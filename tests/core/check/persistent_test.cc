#include <gtest/gtest.h>

#include <functional>

#include "core/liveness.h"
#include "tests/core/check/refuses.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

Program sound() {
  return sample_program(one_f_one_b_order(2, 3));
}

Buffer& row(Program& program, std::size_t rank, BufferClass cls) {
  for (std::size_t i = program.first_buffer[rank]; i < program.first_buffer[rank + 1]; ++i)
    if (program.buffers[i].cls == cls) return program.buffers[i];
  ADD_FAILURE() << "no such row";
  return program.buffers.front();
}

void without(Program& program, std::size_t rank, BufferClass cls) {
  const auto at = &row(program, rank, cls) - program.buffers.data();
  program.buffers.erase(program.buffers.begin() + at);
  for (std::size_t r = rank + 1; r < program.first_buffer.size(); ++r) --program.first_buffer[r];
  assign_memory(program);
}

testing::AssertionResult is_refused(const std::function<void(Program&)>& damage, std::string_view words) {
  Program program = sound();
  damage(program);
  return refuses(program, "R8", words);
}

void without_buffers(Program& program) {
  program.buffers.clear();
  program.first_buffer.assign(program.ranks.size() + 1, 0);
  program.arena = program.live_peak = std::vector(program.ranks.size(), Bytes(0));
}

TEST(PersistentRows, OnlyWhatKeepsNothingMayBeWithoutBuffers) {
  Program bare = sound();
  without_buffers(bare);
  EXPECT_TRUE(check(bare).empty());
  EXPECT_FALSE(proves_memory(bare));
  Program units = sound();  // as of a schedule alone
  for (Buffer& row : units.buffers) row.cls = BufferClass::Stash;
  EXPECT_FALSE(proves_memory(units));
  EXPECT_TRUE(proves_memory(sound()));
  Program stores = bare;
  stores.stores[0].parameters = 1;
  EXPECT_TRUE(refuses(stores, "R8", "the program has no buffers, but stores with parameters"));
  Program sums = bare;
  sums.groups.push_back({.ranks = {RankId(0)}, .stage = StageId(0), .end_parameter = 1});
  EXPECT_TRUE(refuses(sums, "R8", "the program has no buffers, but collectives"));
  Program arena = bare;
  arena.arena[0] = Bytes(64);
  EXPECT_TRUE(refuses(arena, "R8", "rank 0: buffers reach to byte 0, the arena to 64"));
}

TEST(PersistentRows, AreOfAStoreOfTheirRankAndStageOnce) {
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Weights).owner = 1; }, "owned by 1, which is no store of that stage here"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Weights).owner = 9; }, "owned by 9"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Gradients).stage = 1; }, "no store of that stage here"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Weights).microbatch = 1; }, "is of microbatch 1, slice 0; it is of none"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Workspace).owner = 0; }, "has an owner, 0"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 1, BufferClass::Gradients).cls = BufferClass::Weights; },
                         "rank 1: the weights buffer of stage 1 is there twice"));
}

TEST(PersistentRows, GradientsAreOfTheSizeOfTheWeightsAndStatesAMultiple) {
  EXPECT_TRUE(is_refused([](Program& p) { without(p, 0, BufferClass::Gradients); },
                         "store 0 (stage 0) has 4096 bytes of weights and 0 of gradients"));
  EXPECT_TRUE(is_refused([](Program& p) { without(p, 1, BufferClass::Weights); }, "0 bytes of weights and 4096 of gradients"));
  EXPECT_TRUE(is_refused([](Program& p) { row(p, 0, BufferClass::Optimizer).bytes = Bytes(4000); }, "which is no multiple"));
  EXPECT_TRUE(is_refused([](Program& p) { without(p, 1, BufferClass::Optimizer); },
                         "store 1 (stage 1) has 0 states of the optimizer for each weight; others have 1"));
  EXPECT_TRUE(is_refused([](Program& p) { p.stores[1].parameters = 65; }, "has 65 parameters on 64-byte boundaries, in 4096 bytes"));
}

TEST(PersistentRows, WhoGathersNormsHasATableOfThem) {
  Program program = sound();
  program.groups = {{.kind = GroupKind::GradientNorm, .ranks = {RankId(0), RankId(1)}, .bytes = Bytes(16)}};
  for (std::size_t r = 0; r < 2; ++r) {
    std::vector<Instruction>& body = compute(program, r);
    Instruction gather = find(program, r, Op::Step, -1);
    gather.key.op = Op::Gather;
    gather.target = 0;
    gather.recipe = -1;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(position(program, r, Op::Step, -1)), gather);
    program.stores[r].parameters = 1;
  }
  EXPECT_TRUE(refuses(program, "R8", "rank 0: gathers norms, and has no buffer for them"));
  std::vector<Buffer> rows;
  std::vector<std::size_t> first = {0};
  for (std::int32_t r = 0; r < 2; ++r) {
    Buffer& norms = rows.emplace_back();
    norms.cls = BufferClass::Norms;
    norms.stage = static_cast<std::uint16_t>(r);
    norms.bytes = Bytes(16);
    for (const Buffer& buffer : program.buffers_of(RankId(r))) rows.push_back(buffer);
    first.push_back(rows.size());
  }
  program.buffers = rows;
  program.first_buffer = first;
  assign_memory(program);
  const std::vector<Violation> violations = check(program);
  EXPECT_TRUE(violations.empty()) << violations.front().message;
  Program small = program;
  small.buffers[0].bytes = Bytes(8);
  EXPECT_TRUE(refuses(small, "R8", "its buffer of norms has 8 bytes; 16 are gathered"));
  Program more = program;
  more.stores[1].parameters = 2;
  EXPECT_TRUE(refuses(more, "R10", "norms of 3 parameters, 8 bytes each, are not the 16 bytes"));
}

}  // namespace
}  // namespace penstock::test
