#include <gtest/gtest.h>

#include <limits>

#include <functional>

#include "core/program_check.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

// The rule that refuses a sound program after `damage`; "" if none does.
std::string refused(const std::function<void(Program&)>& damage) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  damage(program);
  const std::vector<Violation> violations = check(program);
  return violations.empty() ? "" : violations.front().rule;
}

TEST(ProgramTables, SoundOnesPass) {
  EXPECT_EQ(refused([](Program&) {}), "");
}

TEST(ProgramTables, EveryIndexMustLieInItsTable) {
  EXPECT_EQ(refused([](Program& p) { p.ranks.clear(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.first_buffer.pop_back(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.first_buffer.clear(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { std::swap(p.first_buffer[0], p.first_buffer[1]); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.arena.clear(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.edges[0].source = RankId(2); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.edges[0].to = StageId(-1); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.stores[1].rank = RankId(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.groups.push_back({.kind = GroupKind::GradientNorm, .ranks = {RankId(7)}}); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams.clear(); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams[0].body[0].key.stage = 9; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams[0].body[0].recipe = 99; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams[1].body[0].target = 2; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams[1].body[0].after_stream = 2; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams[1].body[0].after_index = 1000; }),
            "tables");
  EXPECT_EQ(refused([](Program& p) { p.buffers[5].first = 1000; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.buffers[5].bytes = Bytes(-1); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.buffers[6].owner = 2; }), "tables");
}

// They stand in a file, and are added up.
TEST(ProgramTables, SizesOffsetsAndSumsThatOverflowAreRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refused([](Program& p) { p.buffers[5].bytes = Bytes(kMost); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.buffers[5].offset = Bytes(kMost); }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.edges[0].bytes = Bytes(kMost); }), "tables");
  EXPECT_EQ(refused([](Program& p) {
              for (Buffer& row : p.buffers) row.bytes = Bytes(kMost / 17);
            }),
            "tables");
}

// What is not written would not be read back.
TEST(ProgramTables, AFieldThatMeansNothingIsLeftAtNothing) {
  EXPECT_EQ(refused([](Program& p) { p.edges[0].first_sample = 1; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.stores[0].first_sample = 1; }), "tables");
  EXPECT_EQ(refused([](Program& p) { p.recipes[0].segments[0].first_layer = 1; }), "tables");
  const Group norms{.kind = GroupKind::GradientNorm, .ranks = {RankId(0), RankId(1)}, .bytes = Bytes(16)};
  EXPECT_NE(refused([&](Program& p) { p.groups.push_back(norms); }), "tables");
  EXPECT_EQ(refused([&](Program& p) { p.groups.push_back(norms), p.groups[0].stage = StageId(0); }), "tables");
  EXPECT_EQ(refused([&](Program& p) { p.groups.push_back(norms), p.groups[0].end_parameter = 1; }), "tables");
}

TEST(ProgramTables, ARankComputesInOneStream) {
  EXPECT_EQ(refused([](Program& p) { p.ranks[0].streams.push_back({.kind = StreamKind::Compute}); }), "tables");
}

TEST(ProgramTables, NothingElseIsLookedAtWhenOneIsDamaged) {
  Program program = sample_program(one_f_one_b_order(2, 3));
  program.ranks[0].streams[0].body.clear();  // lacks everything
  program.ranks[1].streams[1].body[0].target = 77;
  for (const Violation& violation : check(program))
    EXPECT_EQ(violation.rule, "tables") << violation.message;
}

}  // namespace
}  // namespace penstock::test
