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

Span span(std::int32_t step, std::int64_t start, std::int64_t end, Op op = Op::F) {
  return {.track = 0, .step = step, .start = Nanoseconds(start), .end = Nanoseconds(end), .key = {.op = op}, .label = -1};
}

Timeline of_spans(std::int32_t ranks, std::vector<Span> spans) {
  Timeline timeline;
  timeline.ranks = ranks;
  timeline.tracks = {{.rank = RankId(0), .lane = std::string(kComputeLane)}};
  timeline.spans = std::move(spans);
  return timeline;
}

TEST(StepUse, AStepThatAnEarlierOneOutlastsTakesNoTime) {
  // Steps end at 100, 60 and 90: all of the time is the first one's, and of three the middle one takes none.
  Timeline timeline = of_spans(1, {span(1, 0, 60), span(2, 60, 90), span(0, 90, 100)});
  ASSERT_EQ(median_steps(timeline).size(), 1u);
  EXPECT_EQ(median_steps(timeline)[0].from, median_steps(timeline)[0].to);
  EXPECT_EQ(step_use(timeline)[0].busy, Nanoseconds(0));
  EXPECT_EQ(step_use(timeline)[0].idle, Nanoseconds(0));
  // With one that ends last two have a length, 100 and 20; the middle ones of four are one of them and an empty one.
  timeline.spans.push_back(span(3, 110, 120));
  ASSERT_EQ(median_steps(timeline).size(), 2u);
  for (const StepWindow& window : median_steps(timeline)) EXPECT_LE(window.from, window.to);
  const RankUse use = step_use(timeline)[0];
  EXPECT_EQ(use.busy, Nanoseconds((0 + 10) / 2));
  EXPECT_EQ(use.busy + use.idle, iteration_time(timeline));
}

TEST(StepUse, CountsByTimeWhatARankDoesOfAnotherStep) {
  Timeline timeline = of_spans(1, {span(0, 0, 50), span(1, 50, 80), span(1, 100, 150)});
  timeline.tracks.push_back({.rank = RankId(1), .lane = std::string(kComputeLane)});
  timeline.ranks = 2;
  timeline.spans.push_back({.track = 1, .step = 0, .start = Nanoseconds(0), .end = Nanoseconds(100), .key = {.op = Op::F}, .label = -1});
  timeline.warmup_steps = 1;  // the second step is from 100 to 150
  EXPECT_EQ(step_use(timeline)[0].busy, Nanoseconds(50));
  EXPECT_EQ(step_use(timeline)[1].busy, Nanoseconds(0));
  timeline.warmup_steps = 0;  // the mean of 100 and 50
  EXPECT_EQ(step_use(timeline)[0].busy, Nanoseconds((80 + 50) / 2));
  EXPECT_EQ(step_use(timeline)[1].busy, Nanoseconds(100 / 2));
}

TEST(StepUse, WaitingIsIdleAndAllThatAForeignTraceHasIsBusy) {
  Timeline timeline = of_spans(1, {span(0, 0, 30), span(0, 30, 60, Op::Wait), span(0, 60, 100, Op::Recv)});
  EXPECT_EQ(step_use(timeline)[0].busy, Nanoseconds(30));
  timeline.labels = {"gemm"};
  timeline.spans[1].label = 0;
  EXPECT_EQ(step_use(timeline)[0].busy, Nanoseconds(60));
}

TEST(StepUse, ListsRanksWithoutSpans) {
  const std::vector<RankUse> use = step_use(of_spans(3, {span(0, 0, 100)}));
  ASSERT_EQ(use.size(), 3u);
  EXPECT_EQ(use[2].rank, RankId(2));
  EXPECT_EQ(use[2].idle, Nanoseconds(100));
  EXPECT_EQ(use[2].bubble_fraction, 1);
}

}  // namespace
}  // namespace penstock
