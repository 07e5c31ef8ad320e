#include "traces/analysis/memory_use.h"

#include <gtest/gtest.h>

#include "planner/lower.h"
#include "sim/engine.h"
#include "sim/memory.h"
#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

// One rank that forwards two microbatches and then takes them back: two activations at the peak.
Program small_program() {
  Order order = chain_order(1, 2);
  order.first = {0, 4};
  for (const auto& [op, microbatch] : {std::pair(Op::F, 0u), {Op::F, 1u}, {Op::BF, 0u}, {Op::BF, 1u}}) {
    OrderOp item;
    item.op = op;
    item.microbatch = microbatch & 0x3fffffff;
    order.ops.push_back(item);
  }
  const Nanoseconds ms(1'000'000);
  return lower(order, OrderCosts::uniform(order, ms, ms, ms, Nanoseconds(0)), Bytes(0));
}

TEST(MemoryUse, CurvesAreTheCountersOfTheStep) {
  Timeline timeline = test::sample_timeline(2);
  timeline.counters = {{RankId(1), "memory", "B"}, {RankId(1), "power", "W"}};
  timeline.points = {{0, Nanoseconds(0), 100}, {0, Nanoseconds(95'000), 300}, {1, Nanoseconds(96'000), 7},
                     {0, Nanoseconds(500'000), 900}};
  const std::vector<MemoryUse> use = memory_use(timeline, 1, nullptr);
  ASSERT_EQ(use.size(), 2u);
  EXPECT_TRUE(use[0].curve.empty());
  EXPECT_EQ(use[1].curve, (std::vector<MemoryPoint>{{Nanoseconds(90'000), Bytes(100)}, {Nanoseconds(95'000), Bytes(300)}}));
  EXPECT_EQ(use[0].peak, Bytes(4096));
}

TEST(MemoryUse, WithoutCountersTheProgramSaysWhatIsHeldWhen) {
  const Program program = small_program();
  const auto counted = simulate(program);
  const auto bare = simulate(program, {.memory_counters = false});
  ASSERT_TRUE(counted && bare);
  const std::vector<MemoryUse> derived = memory_use(bare->timeline, 0, &program);
  const std::vector<MemoryUse> recorded = memory_use(counted->timeline, 0, nullptr);
  ASSERT_FALSE(derived[0].curve.empty());
  // Work beside the instructions, as of the squares of norms, changes nothing.
  Timeline beside = bare->timeline;
  beside.labels = {"squared norms"};
  Span squares = beside.spans[2];
  squares.label = 0;
  squares.end = squares.start;
  beside.spans.insert(beside.spans.begin() + 2, squares);
  EXPECT_EQ(memory_use(beside, 0, &program)[0].curve, derived[0].curve);
  // The same level at every start of an operation.
  const auto at = [](const MemoryUse& use, Nanoseconds t) {
    Bytes level;
    for (const MemoryPoint& point : use.curve) {
      if (point.time <= t) level = point.bytes;
    }
    return level;
  };
  for (const Span& span : bare->timeline.spans) {
    EXPECT_EQ(at(derived[0], span.start), at(recorded[0], span.start)) << span.start.value;
  }
}

TEST(MemoryUse, ThePeakNamesItsHolders) {
  const Program program = small_program();
  const auto result = simulate(program);
  ASSERT_TRUE(result);
  const MemoryUse use = memory_use(result->timeline, 0, &program)[0];
  EXPECT_EQ(use.fullest.at, "F 0.1");
  ASSERT_FALSE(use.fullest.holders.empty());
  EXPECT_EQ(use.fullest.holders[0].cls, BufferClass::Stash);
  EXPECT_EQ(use.fullest.holders[0].buffers, 2);
  Bytes sum;
  for (const Holder& holder : use.fullest.holders) sum += holder.bytes;
  EXPECT_EQ(sum, live_memory(program, RankId(0)).peak);
  EXPECT_EQ(holders_text(use.fullest), "2 stashes 128 B");
}

// Two ranks of one computing lane. Rank 1's layout (see sim/memory_test) is not packed perfectly.
//   position     0    1    2    3    4    5
//   a 192                  x                   at  64
//   b  64        x    x    x    x              at   0
//   c 192                                 x    at 128
//   d  64                       x    x    x    at  64
TEST(MemoryUse, LivePeakAndLayoutsPeakNameWhoHoldsWhatOnEachRank) {
  Program program;
  program.ranks.resize(2);
  program.recipes = {{.name = "F", .segments = {{.duration = Nanoseconds(10)}}}};
  for (RankProgram& rank : program.ranks) {
    Stream& stream = rank.streams.emplace_back();
    for (std::int32_t m = 0; m < 6; ++m) stream.body.push_back({.key = {.op = Op::F, .microbatch = m}, .recipe = 0});
  }
  const auto row = [](BufferClass cls, std::uint32_t first, std::uint32_t last, std::int64_t bytes, std::int64_t offset) {
    Buffer buffer;
    buffer.cls = cls;
    buffer.first = first;
    buffer.last = last;
    buffer.bytes = Bytes(bytes);
    buffer.offset = Bytes(offset);
    return buffer;
  };
  program.buffers = {row(BufferClass::Weights, 0, 5, 256, 0),    row(BufferClass::Stash, 1, 2, 512, 256),
                     row(BufferClass::Stash, 2, 3, 128, 768),    row(BufferClass::Stash, 2, 2, 192, 64),
                     row(BufferClass::SendBuffer, 0, 3, 64, 0),  row(BufferClass::Stash, 5, 5, 192, 128),
                     row(BufferClass::Data, 3, 5, 64, 64)};
  program.first_buffer = {0, 3, 7};
  program.arena = {Bytes(896), Bytes(320)};
  program.live_peak = {Bytes(896), Bytes(256)};
  const auto result = simulate(program);
  ASSERT_TRUE(result) << result.error().text();
  const std::vector<MemoryUse> use = memory_use(result->timeline, 0, &program);
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use[0].peak, Bytes(896));
  EXPECT_EQ(use[0].live_peak, Bytes(896));
  EXPECT_EQ(use[0].fullest.at, "F 0.2");
  EXPECT_EQ(use[0].fullest.holders, (std::vector<Holder>{{BufferClass::Stash, 2, Bytes(640)}, {BufferClass::Weights, 1, Bytes(256)}}));
  EXPECT_TRUE(use[0].highest.holders.empty()) << "the layout wastes nothing: one answer serves both";
  EXPECT_EQ(use[0].unused, Bytes(0));
  EXPECT_EQ(use[1].peak, Bytes(320));
  EXPECT_EQ(use[1].live_peak, Bytes(256));
  EXPECT_EQ(use[1].fullest.at, "F 0.2");
  EXPECT_EQ(use[1].fullest.holders, (std::vector<Holder>{{BufferClass::Stash, 1, Bytes(192)}, {BufferClass::SendBuffer, 1, Bytes(64)}}));
  EXPECT_EQ(use[1].highest.at, "F 0.5");
  EXPECT_EQ(use[1].highest.holders, (std::vector<Holder>{{BufferClass::Stash, 1, Bytes(192)}, {BufferClass::Data, 1, Bytes(64)}}));
  EXPECT_EQ(use[1].unused, Bytes(64));
  // Over time: six operations of 10 ns, the levels of the positions.
  EXPECT_EQ(use[1].curve, (std::vector<MemoryPoint>{{Nanoseconds(0), Bytes(64)}, {Nanoseconds(20), Bytes(256)}, {Nanoseconds(30), Bytes(128)},
                                                    {Nanoseconds(40), Bytes(64)}, {Nanoseconds(50), Bytes(256)}, {Nanoseconds(60), Bytes(0)}}));
}

// Every class of buffer there is, the last of them too, on ranks that exchange messages.
TEST(MemoryUse, HoldersOfAnyClassAddUpToThePeak) {
  Program program = small_program();
  const auto classes = static_cast<std::int64_t>(enum_names(BufferClass{}).size());
  program.buffers.clear();
  for (std::int64_t c = 0; c < classes; ++c) {
    Buffer& row = program.buffers.emplace_back();
    row.cls = static_cast<BufferClass>(c);
    row.bytes = Bytes(64 << c);
    row.last = 3;
  }
  program.first_buffer = {0, program.buffers.size()};
  const auto result = simulate(program);
  ASSERT_TRUE(result);
  const MemoryUse use = memory_use(result->timeline, 0, &program)[0];
  EXPECT_EQ(use.fullest.holders.size(), program.buffers.size());
  Bytes sum;
  for (const Holder& holder : use.fullest.holders) sum += holder.bytes;
  EXPECT_EQ(sum, Bytes((64 << classes) - 64));
}

TEST(MemoryUse, AProgramThatDoesNotFitAddsNoCurve) {
  const Program program = small_program();
  Timeline timeline = test::sample_timeline(1);
  EXPECT_TRUE(memory_use(timeline, 0, &program)[0].curve.empty()) << "other ranks";
  timeline.ranks = 1;
  timeline.tracks.resize(1);
  std::erase_if(timeline.spans, [](const Span& span) { return span.track > 0; });
  timeline.flows.clear();
  EXPECT_TRUE(memory_use(timeline, 0, &program)[0].curve.empty()) << "other instructions";
}

TEST(MemoryUse, OfManyHoldersTheRestIsSummed) {
  MemoryUse use;
  use.fullest.holders = {{BufferClass::Stash, 1, Bytes(4096)}, {BufferClass::Weights, 1, Bytes(2048)}, {BufferClass::Data, 2, Bytes(512)}, {BufferClass::Workspace, 1, Bytes(512)}};
  EXPECT_EQ(holders_text(use.fullest, 2), "stash 4.00 KiB, weights 2.00 KiB, the rest 1.00 KiB");
}

}  // namespace
}  // namespace penstock
