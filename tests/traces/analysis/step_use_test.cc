#include "traces/analysis/step_use.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

// One rank; each step computes half of its time, and then its update.
Timeline steps_of(const std::vector<std::int64_t>& times) {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.tracks = {{.rank = RankId(0), .lane = std::string(kComputeLane)}, {.rank = RankId(0), .lane = "recv 1>0"}};
  std::int64_t now = 0;
  std::int32_t step = 0;
  for (const std::int64_t time : times) {
    timeline.spans.push_back({.track = 0, .step = step, .start = Nanoseconds(now), .end = Nanoseconds(now + time / 2),
                              .key = {.op = Op::F}, .label = -1});
    timeline.spans.push_back({.track = 1, .step = step, .start = Nanoseconds(now), .end = Nanoseconds(now + time),
                              .key = {.op = Op::Recv}, .label = -1});
    now += time;
    ++step;
  }
  return timeline;
}

TEST(StepUse, IsOfTheMiddleStepWhateverAFewSlowOnesDo) {
  const Timeline timeline = steps_of({10, 12, 5000, 14, 8});
  ASSERT_EQ(median_steps(timeline).size(), 1u);
  EXPECT_EQ(median_steps(timeline)[0].step, 1);
  const std::vector<RankUse> use = step_use(timeline);
  EXPECT_EQ(use[0].busy, Nanoseconds(6));
  EXPECT_EQ(use[0].idle, Nanoseconds(6));
  EXPECT_DOUBLE_EQ(use[0].bubble_fraction, 0.5);
}

TEST(StepUse, BusyAndIdleAddUpToTheIterationTimeAlsoOfTwo) {
  for (const auto& times : {std::vector<std::int64_t>{10, 20}, {7, 10, 14, 100}, {4, 4, 4}, {9}}) {
    const Timeline timeline = steps_of(times);
    const RankUse use = step_use(timeline)[0];
    EXPECT_EQ(use.busy + use.idle, iteration_time(timeline));
    EXPECT_EQ(median_steps(timeline).size(), times.size() % 2 == 1 ? 1u : 2u);
  }
  EXPECT_EQ(step_use(steps_of({10, 20}))[0].busy, Nanoseconds((5 + 10) / 2));
}

TEST(StepUse, WarmUpStepsAreLeftOut) {
  Timeline timeline = steps_of({1000, 1000, 10, 20, 30});
  timeline.warmup_steps = 2;
  EXPECT_EQ(median_steps(timeline)[0].step, 3);
  timeline.warmup_steps = 5;
  EXPECT_TRUE(median_steps(timeline).empty());
  EXPECT_EQ(step_use(timeline)[0].idle, Nanoseconds(0));
}

}  // namespace
}  // namespace penstock
