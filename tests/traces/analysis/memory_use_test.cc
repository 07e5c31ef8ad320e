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
  EXPECT_EQ(use.at, "F 0.1");
  ASSERT_FALSE(use.holders.empty());
  EXPECT_EQ(use.holders[0].cls, BufferClass::Stash);
  EXPECT_EQ(use.holders[0].buffers, 2);
  Bytes sum;
  for (const Holder& holder : use.holders) sum += holder.bytes;
  EXPECT_EQ(sum, live_memory(program, RankId(0)).peak);
  EXPECT_EQ(holders_text(use), "2 stashes 128 B");
}

// The last of the classes.
TEST(MemoryUse, AReceiveBufferIsAHolder) {
  Program program = small_program();
  const auto result = simulate(program);
  ASSERT_TRUE(result);
  for (Buffer& buffer : program.buffers) buffer.cls = BufferClass::ReceiveBuffer;
  const MemoryUse use = memory_use(result->timeline, 0, &program)[0];
  ASSERT_FALSE(use.holders.empty());
  EXPECT_EQ(use.holders[0].cls, BufferClass::ReceiveBuffer);
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
  use.holders = {{BufferClass::Stash, 1, Bytes(4096)}, {BufferClass::Weights, 1, Bytes(2048)}, {BufferClass::Data, 2, Bytes(512)}, {BufferClass::Workspace, 1, Bytes(512)}};
  EXPECT_EQ(holders_text(use, 2), "stash 4.00 KiB, weights 2.00 KiB, the rest 1.00 KiB");
}

}  // namespace
}  // namespace penstock
