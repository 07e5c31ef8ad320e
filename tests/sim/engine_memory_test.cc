// Memory over time, from the buffers of a lowered program.

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine.h"
#include "tests/core/sample_program.h"

namespace penstock::test {
namespace {

TEST(EngineMemory, ThePeakIsTheOneThatTheProgramClaims) {
  for (const Order& order : {one_f_one_b_order(4, 6), gpipe_order(3, 5), one_f_one_b_order(1, 2)}) {
    const Program program = sample_program(order);
    const auto result = simulate(program, {.steps = 2});
    ASSERT_TRUE(result.has_value()) << result.error().text();
    const Timeline& timeline = result->timeline;
    EXPECT_EQ(timeline.live_peak, program.live_peak);
    EXPECT_EQ(timeline.peak_memory, program.arena);
    ASSERT_EQ(timeline.counters.size(), program.ranks.size());
    std::vector<Bytes> highest(program.ranks.size()), last(program.ranks.size());
    for (const CounterPoint& point : timeline.points) {
      highest[point.counter] = std::max(highest[point.counter], Bytes(point.value));
      last[point.counter] = Bytes(point.value);
    }
    EXPECT_EQ(highest, program.live_peak);
    for (std::size_t r = 0; r < last.size(); ++r) {
      Bytes always;
      for (const Buffer& buffer : program.buffers_of(RankId(static_cast<std::int64_t>(r)))) {
        if (is_persistent(buffer.cls)) always += align_up(buffer.bytes, kTensorAlignment);
      }
      EXPECT_EQ(last[r], always) << "rank " << r << " ends with what it always holds";
    }
  }
}

TEST(EngineMemory, ACounterGoesUpWhenAnInstructionIsReachedAndNeverBackInTime) {
  const auto result = simulate(sample_program(one_f_one_b_order(3, 4)));
  ASSERT_TRUE(result.has_value());
  const std::vector<CounterPoint>& points = result->timeline.points;
  ASSERT_FALSE(points.empty());
  for (std::size_t k = 1; k < points.size(); ++k) {
    ASSERT_LE(points[k - 1].counter, points[k].counter);
    if (points[k - 1].counter != points[k].counter) continue;
    ASSERT_LE(points[k - 1].time, points[k].time);
    ASSERT_NE(points[k - 1].value, points[k].value);
  }
}

TEST(EngineMemory, CountersAreLeftOutOnRequestAndPeaksAreNot) {
  const Program program = sample_program(one_f_one_b_order(3, 4));
  const auto result = simulate(program, {.memory_counters = false});
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->timeline.counters.empty());
  EXPECT_TRUE(result->timeline.points.empty());
  EXPECT_EQ(result->timeline.live_peak, program.live_peak);
}

}  // namespace
}  // namespace penstock::test
