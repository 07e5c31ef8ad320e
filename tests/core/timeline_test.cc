#include "core/timeline.h"

#include <gtest/gtest.h>

namespace penstock::test {
namespace {

Span span(std::uint32_t track, std::int32_t step, std::int64_t start, std::int64_t end, Op op) {
  Span out;
  out.track = track;
  out.step = step;
  out.start = Nanoseconds(start);
  out.end = Nanoseconds(end);
  out.key.op = op;
  return out;
}

// Two ranks, three steps: the first from 10 to 100, then to 160, then to 250.
Timeline three_steps() {
  Timeline timeline;
  timeline.ranks = 2;
  timeline.tracks = {{RankId(0), "compute"}, {RankId(0), "send 0>1"}, {RankId(1), "compute"}};
  timeline.spans = {
      span(0, 0, 10, 40, Op::F),      span(0, 0, 40, 100, Op::BF),  span(0, 1, 100, 150, Op::F),
      span(0, 2, 150, 250, Op::BF),   span(1, 0, 40, 60, Op::Send), span(2, 0, 10, 60, Op::Recv),
      span(2, 0, 60, 90, Op::F),      span(2, 1, 90, 120, Op::F),   span(2, 1, 130, 160, Op::Step),
      span(2, 2, 160, 200, Op::Wait),
  };
  return timeline;
}

TEST(StepTimes, RunFromEndToEnd) {
  EXPECT_EQ(step_times(three_steps()),
            (std::vector{Nanoseconds(90), Nanoseconds(60), Nanoseconds(90)}));
  EXPECT_TRUE(step_times(Timeline{}).empty());
}

TEST(StepTimes, AreNothingForAStepThatAnEarlierOneOutlasts) {
  Timeline timeline = three_steps();
  for (Span& span : timeline.spans) span.step = 2 - span.step;
  EXPECT_EQ(step_times(timeline), (std::vector{Nanoseconds(240), Nanoseconds(0), Nanoseconds(0)}));
}

TEST(IterationTime, IsTheMedianAfterWarmUp) {
  Timeline timeline = three_steps();
  EXPECT_EQ(iteration_time(timeline), Nanoseconds(90));
  timeline.warmup_steps = 1;
  EXPECT_EQ(iteration_time(timeline), Nanoseconds(75));  // of 60 and 90
  timeline.warmup_steps = 2;
  EXPECT_EQ(iteration_time(timeline), Nanoseconds(90));
  timeline.warmup_steps = 3;
  EXPECT_EQ(iteration_time(timeline), Nanoseconds(0));
  EXPECT_EQ(iteration_time(Timeline{}), Nanoseconds(0));
}

TEST(RankUse, CountsComputeFromFirstStartToLastEnd) {
  const std::vector<RankUse> use = rank_use(three_steps());
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use[0].busy, Nanoseconds(240));
  EXPECT_EQ(use[0].idle, Nanoseconds(0));
  EXPECT_EQ(use[1].rank, RankId(1));
  EXPECT_EQ(use[1].busy, Nanoseconds(30 + 30 + 30));  // neither RECV nor WAIT
  EXPECT_EQ(use[1].idle, Nanoseconds(150));
  EXPECT_DOUBLE_EQ(use[1].bubble_fraction, 150.0 / 240.0);
}

TEST(RankUse, LeavesOutWarmUpByTime) {
  Timeline timeline = three_steps();
  timeline.warmup_steps = 1;  // from 100 to 250; rank 1 began its second step at 90
  const std::vector<RankUse> use = rank_use(timeline);
  EXPECT_EQ(use[0].busy, Nanoseconds(150));
  EXPECT_EQ(use[1].busy, Nanoseconds(20 + 30));
  EXPECT_EQ(use[1].idle, Nanoseconds(100));
  timeline.warmup_steps = 3;
  EXPECT_EQ(rank_use(timeline)[0].busy, Nanoseconds(0));
  EXPECT_EQ(rank_use(timeline)[0].bubble_fraction, 0);
}

TEST(RankUse, CountsAllThatAForeignTraceHasOnItsComputeLane) {
  Timeline timeline = three_steps();
  timeline.labels = {"gemm"};
  timeline.spans[9].label = 0;  // was a WAIT
  EXPECT_EQ(rank_use(timeline)[1].busy, Nanoseconds(30 + 30 + 30 + 40));
}

TEST(RankUse, ListsRanksWithoutSpans) {
  Timeline timeline = three_steps();
  timeline.ranks = 3;
  ASSERT_EQ(rank_use(timeline).size(), 3u);
  EXPECT_EQ(rank_use(timeline)[2].idle, Nanoseconds(240));
}

}  // namespace
}  // namespace penstock::test
