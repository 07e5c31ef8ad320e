#include "sim/host_sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/timeline.h"
#include "sim/engine.h"
#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

using Lengths = std::vector<std::int64_t>;

Segment segment(std::int64_t length, double memory_share) {
  Segment out;
  out.duration = Nanoseconds(length);
  out.memory_share = memory_share;
  return out;
}

// A rank an entry, each with one instruction a length, all of one share of memory; all on one host.
Program ranks_of(const std::vector<Lengths>& ranks, const Contention& contention,
                 double memory_share = 1) {
  Program program;
  program.contention = contention;
  for (const Lengths& lengths : ranks) {
    std::vector<Instruction> body;
    for (const std::int64_t length : lengths) {
      Instruction f;
      f.key.op = Op::F;
      f.key.microbatch = static_cast<std::int32_t>(body.size());
      f.recipe = static_cast<std::int32_t>(program.recipes.size());
      body.push_back(f);
      program.recipes.push_back({"F", {segment(length, memory_share)}});
    }
    RankProgram& rank = program.ranks.emplace_back();
    rank.host = HostId(0);
    rank.streams = {stream_of(std::move(body))};
  }
  return program;
}

Contention all(double slowdown, std::int64_t cores = 0) {
  Contention contention;
  for (auto& row : contention.slowdown) row.fill(slowdown);
  contention.cores = cores;
  return contention;
}

EngineResult run(const Program& program, EngineOptions options = {}) {
  auto result = simulate(program, options);
  EXPECT_TRUE(result) << result.error().text();
  return result ? *std::move(result) : EngineResult{};
}

std::vector<std::int64_t> ends(const EngineResult& result) {
  std::vector<std::int64_t> out(result.timeline.tracks.size());
  for (const Span& span : result.timeline.spans)
    out[span.track] = std::max(out[span.track], span.end.value);
  return out;
}

TEST(HostSharing, ARankAloneTakesItsOwnTime) {
  EXPECT_EQ(ends(run(ranks_of({{7, 1000, 13}}, all(3, 1)))), (Lengths{1020}));
  Program two = ranks_of({{500}, {700}}, all(2));
  two.ranks[1].host = HostId(1);
  EXPECT_EQ(ends(run(two)), (Lengths{500, 700}));
  two.ranks[0].host = two.ranks[1].host = HostId();  // of no known host
  EXPECT_EQ(ends(run(two)), (Lengths{500, 700}));
}

TEST(HostSharing, TwoEqualWorksTakeTheSlowdownTimesAsLong) {
  EXPECT_EQ(ends(run(ranks_of({{1000}, {1000}}, all(1.5)))), (Lengths{1500, 1500}));
}

// The shorter is slowed throughout; the longer until then, and runs alone after.
TEST(HostSharing, OfTwoWorksOfDifferentLengthTheLongerEndsByTheClosedForm) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::int64_t a = 1 + random() % 100000, b = 1 + random() % 100000;
    if (a > b) std::swap(a, b);
    const double s = 1 + static_cast<double>(random() % 1000) / 500;
    const auto found = ends(run(ranks_of({{a}, {b}}, all(s))));
    const double shorter = s * static_cast<double>(a);
    EXPECT_NEAR(static_cast<double>(found[0]), shorter, 1);
    EXPECT_NEAR(static_cast<double>(found[1]), shorter + static_cast<double>(b - a), 2);
  }
}

TEST(HostSharing, ClassesCountOneByOne) {
  Contention contention;
  contention.slowdown[1][0] = 2;  // memory beside matrix, and nothing else
  Program program = ranks_of({{1000}, {1000}}, contention);
  program.recipes[0].segments = {segment(1000, 0)};
  EXPECT_EQ(ends(run(program)), (Lengths{1000, 1500}));
  // Matrix for 400, then memory: the other is slowed for the first 400, of which it does 200.
  program.recipes[0].segments = {segment(400, 0), segment(600, 1)};
  EXPECT_EQ(ends(run(program)), (Lengths{1000, 1200}));
}

// Rate of w beside v: 1 / (1 + Σ w[c] v[d] (slowdown[c][d] - 1)).
TEST(HostSharing, SharesWeighTheSlowdownsOfTheirClasses) {
  Contention contention;
  contention.slowdown = {{{1.5, 1.75, 1}, {2, 3, 1}, {1, 1, 1}}};
  Program program = ranks_of({{1000}, {1000}}, contention);
  program.recipes[0].segments = {segment(100000, 0.25)};
  program.recipes[1].segments = {segment(100000, 0.5)};
  const double first = 1 + 0.75 * 0.5 * 0.5 + 0.75 * 0.5 * 0.75 + 0.25 * 0.5 * 1 + 0.25 * 0.5 * 2;
  const double second = 1 + 0.5 * 0.75 * 0.5 + 0.5 * 0.25 * 0.75 + 0.5 * 0.75 * 1 + 0.5 * 0.25 * 2;
  const auto found = ends(run(program));
  // The first ends first, and the rest of the second runs alone.
  ASSERT_LT(first, second);
  const double done = 100000 * first / second;
  EXPECT_NEAR(static_cast<double>(found[0]), 100000 * first, 1);
  EXPECT_NEAR(static_cast<double>(found[1]), 100000 * first + (100000 - done), 2);
}

TEST(HostSharing, RanksOnOneCoreTakeTheSumOfTheirTimes) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    std::vector<Lengths> ranks(2 + random() % 4);
    std::int64_t sum = 0, works = 0;
    for (Lengths& lengths : ranks)
      for (std::size_t k = 1 + random() % 5; k > 0; --k, ++works)
        sum += lengths.emplace_back(1 + random() % 10000);
    const auto found = ends(run(ranks_of(ranks, all(4, 1))));
    EXPECT_NEAR(static_cast<double>(*std::max_element(found.begin(), found.end())),
                static_cast<double>(sum), static_cast<double>(works));
  }
}

// Never idle, n ranks on k cores do all their work at k times one core's rate until fewer than k are left.
TEST(HostSharing, NoWorkIsLostAndNoneDoneTwice) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t cores = 1 + random() % 3;
    std::vector<Lengths> ranks(static_cast<std::size_t>(cores) + random() % 4);
    std::int64_t sum = 0, longest = 0;
    for (Lengths& lengths : ranks) {
      lengths = {static_cast<std::int64_t>(1 + random() % 10000), static_cast<std::int64_t>(1 + random() % 10000)};
      sum += lengths[0] + lengths[1];
      longest = std::max(longest, lengths[0] + lengths[1]);
    }
    const auto found = ends(run(ranks_of(ranks, all(1, cores))));
    const std::int64_t end = *std::max_element(found.begin(), found.end());
    EXPECT_GE(end + 1, std::max(longest, sum / cores));
    EXPECT_LE(end, sum / cores + longest + static_cast<std::int64_t>(2 * ranks.size()));
  }
}

TEST(HostSharing, AHigherSlowdownNeverEndsIndependentRanksEarlier) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    std::vector<Lengths> ranks(2 + random() % 3);
    for (Lengths& lengths : ranks)
      for (std::size_t k = 1 + random() % 4; k > 0; --k) lengths.push_back(1 + random() % 10000);
    std::vector<std::int64_t> last(ranks.size(), 0);
    for (const double slowdown : {1.0, 1.1, 1.5, 3.0}) {
      const auto found = ends(run(ranks_of(ranks, all(slowdown, 2))));
      for (std::size_t r = 0; r < ranks.size(); ++r) EXPECT_GE(found[r] + 8, last[r]);
      last = found;
    }
  }
}

Program pipeline(std::int64_t transfer) {
  const Order order = one_f_one_b(3, 7);
  Program program = timed_program(order, OrderCosts::uniform(order, Nanoseconds(101), Nanoseconds(97),
                                                             Nanoseconds(113), Nanoseconds(transfer)));
  for (RankProgram& rank : program.ranks) rank.host = HostId(0);
  return program;
}

TEST(HostSharing, WhereNothingSlowsTimesAreTheOnesWithoutContention) {
  for (const std::int64_t transfer : {0, 17}) {
    Program program = pipeline(transfer);
    const EngineResult alone = run(program, {.steps = 3});
    program.contention = all(1);
    const EngineResult together = run(program, {.steps = 3});
    EXPECT_EQ(together.timeline.spans, alone.timeline.spans);
    program.contention = all(2, 1);
    EXPECT_EQ(run(program, {.steps = 3, .contention = false}).timeline.spans, alone.timeline.spans);
  }
}

TEST(HostSharing, AStreamsSpansStayInOrderAndCopiesOverlapComputeTheySlow) {
  Program program = pipeline(50);
  program.contention = all(1.5, 2);
  const EngineResult result = run(program, {.steps = 2});
  std::vector<Nanoseconds> last(result.timeline.tracks.size());
  bool overlaps = false;
  for (const Span& span : result.timeline.spans) {
    EXPECT_GE(span.start, last[span.track]);
    EXPECT_GE(span.end, span.start);
    last[span.track] = span.end;
    for (const Span& other : result.timeline.spans)
      overlaps |= span.key.op == Op::Recv && other.key.op == Op::F && span.start < other.end &&
                  other.start < span.end;
  }
  EXPECT_TRUE(overlaps);
  EXPECT_EQ(run(program, {.steps = 2}).timeline.spans, result.timeline.spans);
  Program calm = pipeline(50);
  EXPECT_GT(iteration_time(result.timeline), iteration_time(run(calm, {.steps = 2}).timeline));
}

// A copy of 100 from rank 0, which goes on computing, to rank 1, which waits: both are slowed by the factors of their classes.
TEST(HostSharing, ACopySlowsTheComputeBesideItAndIsSlowed) {
  Contention contention;
  contention.slowdown[1][2] = 2;
  contention.slowdown[2][1] = 1.25;
  Program program = ranks_of({{10, 1000}, {}}, contention);
  program.recipes.push_back(recipe_of(Nanoseconds(100), SegmentKind::Transfer));
  program.edges = {edge_between(0, 1)};
  Instruction send;
  send.key.op = Op::Send;
  send.recipe = 2;
  send.target = 0;
  Instruction receive = send;
  receive.key.op = Op::Recv;
  send.after_stream = 0;
  send.after_index = 0;
  program.ranks[0].streams.push_back(stream_of({send}, EdgeId(0)));
  program.ranks[1].streams = {stream_of({receive})};
  const EngineResult result = run(program);
  // The copy lasts 125 from 10 on, in which the compute does 62.5 of its 1000.
  EXPECT_EQ(ends(result), (Lengths{10 + 125 + 938, 135, 135}));
}

}  // namespace
}  // namespace penstock::test
