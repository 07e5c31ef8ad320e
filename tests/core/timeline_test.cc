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

TEST(StepWindows, BeginWhereTheStepBeforeEnds) {
  Timeline timeline = three_steps();
  const std::vector<StepWindow> windows = step_windows(timeline);
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].from, Nanoseconds(10));
  EXPECT_EQ(windows[1].from, windows[0].to);
  EXPECT_EQ(windows[1].to, Nanoseconds(160));
  EXPECT_EQ(windows[1].share(span(0, 1, 90, 120, Op::F)), Nanoseconds(20));
  EXPECT_EQ(windows[1].share(span(0, 1, 170, 190, Op::F)), Nanoseconds(0));
  for (Span& span : timeline.spans) span.step = 2 - span.step;
  for (const StepWindow& window : step_windows(timeline)) {
    EXPECT_EQ(window.from, Nanoseconds(window.step == 0 ? 10 : 250));
    EXPECT_EQ(window.to, Nanoseconds(250));
  }
  EXPECT_TRUE(step_windows(Timeline{}).empty());
}

TEST(BusySpan, IsWorkOfItsRankOrAnythingOfAForeignTrace) {
  EXPECT_TRUE(is_busy(span(0, 0, 0, 1, Op::F)));
  EXPECT_FALSE(is_busy(span(0, 0, 0, 1, Op::Recv)));
  Span wait = span(0, 0, 0, 1, Op::Wait);
  EXPECT_FALSE(is_busy(wait));
  wait.label = 0;
  EXPECT_TRUE(is_busy(wait));
}

}  // namespace
}  // namespace penstock::test
