#include "traces/writers/svg_gantt.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"
#include "tests/traces/xml_check.h"

namespace penstock {
namespace {

using test::occurrences;
using test::xml_fault;

// Boxes of spans are the rectangles that say something while the pointer rests on them.
std::size_t boxes(const std::string& svg) { return occurrences(svg, "><title>"); }

TEST(SvgGantt, EverySpanIsDrawnOnce) {
  const Timeline timeline = test::sample_timeline(2);
  const std::string whole = svg_gantt(timeline, {.step = kAllSteps});
  EXPECT_EQ(xml_fault(whole), "");
  EXPECT_EQ(boxes(whole), timeline.spans.size());
  EXPECT_EQ(boxes(svg_gantt(timeline)), timeline.spans.size() / 2);
  EXPECT_EQ(occurrences(svg_gantt(timeline), "<title>F 1.1\n"), 1u);
}

TEST(SvgGantt, SaysWhatStartedWhenAndHowLong) {
  const std::string svg = svg_gantt(test::sample_timeline(1));
  EXPECT_EQ(occurrences(svg, "<title>F 0.1\nstart 10.0 us\ntakes 10.0 us</title>"), 1u) << svg;
}

TEST(SvgGantt, MicrobatchesStandInBoxesThatHaveRoom) {
  const Timeline timeline = test::sample_timeline(1);
  EXPECT_EQ(occurrences(svg_gantt(timeline), ">B1</text>"), 2u);
  EXPECT_EQ(occurrences(svg_gantt(timeline, {.width = 160}), ">B1</text>"), 0u);
}

TEST(SvgGantt, LanesOfMessagesAreNamedBeneathTheirRank) {
  const std::string svg = svg_gantt(test::sample_timeline(1));
  EXPECT_LT(svg.find(">rank 0<"), svg.find(">send 0&gt;1<"));
  EXPECT_LT(svg.find(">send 0&gt;1<"), svg.find(">rank 1<"));
}

TEST(SvgGantt, NamesAreEscaped) {
  Timeline timeline = test::sample_timeline(1);
  timeline.name = "<&\"'>";
  timeline.tracks[1].lane = "<lane & \"more\">";
  timeline.labels = {"</title><script>"};
  timeline.spans[0].label = 0;
  const std::string svg = svg_gantt(timeline);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "<script"), 0u);
}

TEST(SvgGantt, SameTimelineSameBytes) {
  EXPECT_EQ(svg_gantt(test::sample_timeline(2)), svg_gantt(test::sample_timeline(2)));
}

TEST(SvgGantt, NothingOneSpanAndEnormousTimesAreDrawn) {
  EXPECT_EQ(xml_fault(svg_gantt(Timeline{})), "");
  EXPECT_EQ(boxes(svg_gantt(Timeline{})), 0u);

  Timeline one = test::sample_timeline(1);
  one.spans.resize(1);
  one.flows.clear();
  EXPECT_EQ(boxes(svg_gantt(one)), 1u);
  one.spans[0].end = one.spans[0].start;
  EXPECT_EQ(xml_fault(svg_gantt(one)), "");
  EXPECT_EQ(boxes(svg_gantt(one)), 1u);

  one.spans[0].start = Nanoseconds(0);
  one.spans[0].end = kLongestRun;
  const std::string years = svg_gantt(one);
  EXPECT_EQ(xml_fault(years), "");
  EXPECT_EQ(occurrences(years, "years"), 2u) << "of the whole, and of the span";
  EXPECT_EQ(occurrences(years, "nan") + occurrences(years, "inf"), 0u);
}

TEST(SvgGantt, OverlappingSpansDoNotHideEachOther) {
  Timeline timeline = test::sample_timeline(1);
  timeline.spans[1].start = timeline.spans[0].start;
  timeline.spans[1].end = timeline.spans[0].end;
  const std::string svg = svg_gantt(timeline);
  const auto top_of = [&](const char* title) {
    const std::size_t y = svg.rfind("y=\"", svg.find(title));
    return svg.substr(y, svg.find('"', y + 3) - y);
  };
  EXPECT_NE(top_of("<title>F 0.0\n"), top_of("<title>F 0.1\n"));
}

TEST(SvgGantt, ATimeInAUnitOfOnesOwnNamesNone) {
  const std::string svg = svg_gantt(test::sample_timeline(1, 1e6), {.bare = true});
  EXPECT_EQ(occurrences(svg, "takes 10</title>"), 5u) << "four forwards and the first backward";
  EXPECT_EQ(occurrences(svg, " s</title>"), 0u);
}

TEST(SvgGantt, MemoryStandsBeneath) {
  Timeline timeline = test::sample_timeline(1);
  timeline.counters = {{RankId(0), "memory", "B"}};
  timeline.points = {{0, Nanoseconds(0), 1024}, {0, Nanoseconds(20'000), 4096}, {0, Nanoseconds(40'000), 2048}};
  const std::string svg = svg_gantt(timeline, {.memory = memory_use(timeline, 0, nullptr)});
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "<path "), 1u);
  EXPECT_EQ(occurrences(svg, "peak 4.00 KiB"), 1u);
}

}  // namespace
}  // namespace penstock
