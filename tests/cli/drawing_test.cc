#include "cli/drawing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::cli {
namespace {

// One rank, a forward of 3 s and a backward of 2 s.
Timeline small() {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.tracks = {{RankId(0), "compute"}};
  const auto add = [&](Op op, std::int64_t start, std::int64_t end) {
    Span span;
    span.start = Nanoseconds(start * 1'000'000'000);
    span.end = Nanoseconds(end * 1'000'000'000);
    span.key.op = op;
    span.key.microbatch = 0;
    timeline.spans.push_back(span);
  };
  add(Op::F, 0, 3);
  add(Op::BF, 3, 5);
  return timeline;
}

TEST(Drawing, SaysWhatItsSignsMean) {
  EXPECT_EQ(draw(small(), 10, true),
            "rank 0 |F0====B0##|\n"
            "F forward =, B backward #\n");
}

TEST(Drawing, HasAnAxisWhereTimesAreInSeconds) {
  const std::string text = draw(small(), 10, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find(" s\n"), std::string::npos) << text;
}

TEST(Drawing, LeavesOutOfTheLegendWhatTakesNoTime) {
  Timeline timeline = small();
  timeline.spans.push_back(timeline.spans.back());
  timeline.spans.back().start = timeline.spans.back().end;
  timeline.spans.back().key.op = Op::Step;
  EXPECT_EQ(draw(timeline, 10, false).find("update"), std::string::npos);
}

TEST(Drawing, NothingIsDrawnOfNothing) {
  EXPECT_EQ(draw(Timeline{}, 10, true), "");
}

}  // namespace
}  // namespace penstock::cli
