#include "traces/writers/picture.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

TEST(Picture, LanesGoByRankWithComputeFirst) {
  Timeline timeline = test::sample_timeline(2);
  std::swap(timeline.tracks[0], timeline.tracks[1]);
  const Picture picture = arrange(timeline);
  ASSERT_EQ(picture.lanes.size(), 3u);
  EXPECT_TRUE(picture.lanes[0].compute);
  EXPECT_EQ(picture.lanes[1].name, "send 0>1");
  EXPECT_EQ(picture.lanes[2].rank, RankId(1));
}

TEST(Picture, TheLastStepIsDrawnUnlessAskedOtherwise) {
  const Timeline timeline = test::sample_timeline(3);
  EXPECT_EQ(arrange(timeline).step, 2);
  EXPECT_EQ(arrange(timeline).spans.size(), 14u);
  EXPECT_EQ(arrange(timeline).start, Nanoseconds(180'000));
  EXPECT_EQ(arrange(timeline, 0).end, Nanoseconds(89'000));
  EXPECT_EQ(arrange(timeline, kAllSteps).spans.size(), timeline.spans.size());
}

TEST(Picture, OverlappingSpansStandBeneathEachOther) {
  Timeline timeline = test::sample_timeline(1);
  timeline.spans[1].start = timeline.spans[0].start;  // two forwards at once
  const Picture picture = arrange(timeline);
  EXPECT_EQ(picture.lanes[0].depth, 2);
  EXPECT_NE(picture.row[0], picture.row[1]);
  EXPECT_EQ(picture.lanes[2].depth, 1);
}

TEST(Picture, EachStageOfARankHasItsShade) {
  Timeline timeline = test::sample_timeline(1);
  timeline.spans[1].key.stage = 2;  // rank 0 holds stages 0 and 2
  const Picture picture = arrange(timeline);
  EXPECT_EQ(picture.shades, 2);
  EXPECT_EQ(picture.shade[0], 0);
  EXPECT_EQ(picture.shade[1], 1);
}

TEST(Picture, OfNothingThereIsNothing) {
  const Picture picture = arrange(Timeline{});
  EXPECT_TRUE(picture.spans.empty());
  EXPECT_EQ(picture.start, picture.end);
}

TEST(Picture, NamesAreInstructionsOrLabels) {
  Timeline timeline = test::sample_timeline(1);
  EXPECT_EQ(span_name(timeline, timeline.spans[0]), "F 0.0");
  EXPECT_EQ(short_names(timeline.spans[0]), (std::vector<std::string>{"F0", "0"}));
  timeline.labels = {"gemm"};
  timeline.spans[0].label = 0;
  EXPECT_EQ(span_name(timeline, timeline.spans[0]), "gemm");
  EXPECT_TRUE(short_names(timeline.spans[0]).empty());
  EXPECT_EQ(paint_of_span(timeline.spans[0]), Paint::Other);
}

TEST(Picture, MarksAreFewAndRound) {
  const std::vector<Tick> marks = ticks(Nanoseconds(277'000'000), 12);
  ASSERT_EQ(marks.size(), 6u);
  EXPECT_EQ(marks[0].label, "0 ms");
  EXPECT_EQ(marks[1].label, "50 ms");
  EXPECT_EQ(marks.back().at, Nanoseconds(250'000'000));
  EXPECT_EQ(ticks(Nanoseconds(33'000'000'000), 12, true).back().label, "30");
}

TEST(Picture, MarksOfAnyLengthAreWithinItAndAscend) {
  for (std::int64_t length = 1; length < kLongestRun.value / 7; length *= 7) {
    for (const bool bare : {false, true}) {
      const std::vector<Tick> marks = ticks(Nanoseconds(length), 10, bare);
      ASSERT_LE(marks.size(), 10u) << length;
      EXPECT_LE(marks.back().at.value, length);
      for (std::size_t i = 1; i < marks.size(); ++i) {
        EXPECT_GT(marks[i].at, marks[i - 1].at);
        EXPECT_NE(marks[i].label, marks[i - 1].label) << length;
      }
    }
  }
}

}  // namespace
}  // namespace penstock
