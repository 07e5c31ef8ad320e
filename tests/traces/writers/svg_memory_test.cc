#include "traces/writers/svg_memory.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"
#include "tests/traces/xml_check.h"

namespace penstock {
namespace {

using test::occurrences;
using test::xml_fault;

std::vector<MemoryUse> two_ranks() {
  MemoryUse first;
  first.rank = RankId(0);
  first.limit = Bytes(8192);
  first.peak = Bytes(5120);
  first.live_peak = Bytes(4096);
  first.curve = {{Nanoseconds(0), Bytes(1024)}, {Nanoseconds(30'000), Bytes(4096)}, {Nanoseconds(60'000), Bytes(1024)}};
  first.fullest.at = "F 0.1";
  first.fullest.holders = {{BufferClass::Stash, 2, Bytes(3072)}, {BufferClass::Weights, 1, Bytes(1024)}};
  MemoryUse second = first;
  second.rank = RankId(1);
  second.limit = Bytes(1 << 30);
  return {first, second};
}

TEST(SvgMemory, EachRankHasACurveItsPeakAndWhatHoldsIt) {
  const std::string svg = svg_memory(test::sample_timeline(1), two_ranks(), 0);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "<path "), 2u);
  EXPECT_EQ(occurrences(svg, "peak 5.00 KiB (live 4.00 KiB)"), 2u);
  EXPECT_EQ(occurrences(svg, "at F 0.1: 2 stashes 3.00 KiB, weights 1.00 KiB"), 2u);
  EXPECT_EQ(svg, svg_memory(test::sample_timeline(1), two_ranks(), 0));
}

TEST(SvgMemory, WhereTheLayoutReachesHigherItsEndIsExplainedToo) {
  std::vector<MemoryUse> use = two_ranks();
  use[0].highest = {.at = "BF 0.0", .holders = {{BufferClass::Stash, 1, Bytes(2048)}, {BufferClass::Weights, 1, Bytes(1024)}}};
  use[0].unused = Bytes(2048);
  const std::string svg = svg_memory(test::sample_timeline(1), use, 0);
  EXPECT_EQ(occurrences(svg, "highest address at BF 0.0: stash 2.00 KiB, weights 1.00 KiB, 2.00 KiB below it unused"), 1u);
  EXPECT_EQ(xml_fault(svg), "");
}

TEST(SvgMemory, ALimitInReachIsALineAndAFarOneIsSaid) {
  const std::string svg = svg_memory(test::sample_timeline(1), two_ranks(), 0);
  EXPECT_EQ(occurrences(svg, "limit-line dash"), 1u);
  EXPECT_EQ(occurrences(svg, ">limit 8.00 KiB<"), 1u);
  EXPECT_EQ(occurrences(svg, ">limit 1.00 GiB, far above<"), 1u);
}

TEST(SvgMemory, TwoLinesLieOnEachOtherFromTheStartOfTheirSteps) {
  const std::vector<MemoryUse> use = two_ranks();
  MemoryUse late = use[0];
  for (MemoryPoint& point : late.curve) point.time += Nanoseconds(1'000'000);
  const MemoryAxis axis{.length = Nanoseconds(89'000)};
  Svg svg;
  draw_memory(svg, 0,
              {{.use = &use[0], .start = Nanoseconds(0), .end = Nanoseconds(89'000), .tone = Tone::Predicted, .name = "predicted"},
               {.use = &late, .start = Nanoseconds(1'000'000), .end = Nanoseconds(1'089'000), .tone = Tone::Measured, .name = "measured"}},
              axis);
  const std::string& text = svg.str();
  const std::size_t first = text.find("<path d=\""), second = text.find("<path d=\"", first + 1);
  const auto data = [&](std::size_t at) { return text.substr(at, text.find('"', at + 9) - at); };
  EXPECT_EQ(data(first), data(second));
  EXPECT_EQ(occurrences(text, "predicted peak 5.00 KiB"), 1u);
}

TEST(SvgMemory, ManyChangesWithinAPixelKeepTheirExtremes) {
  MemoryUse use = two_ranks()[0];
  use.curve.clear();
  for (std::int64_t i = 0; i < 100'000; ++i) use.curve.push_back({Nanoseconds(i), Bytes(i == 50'000 ? 5000 : i % 2 == 0 ? 1000 : 2000)});
  const std::string svg = svg_memory(test::sample_timeline(1), {use}, 0);
  EXPECT_LT(svg.size(), 200'000u);
  EXPECT_EQ(occurrences(svg, "<title>4.88 KiB at 50.0 us</title>"), 1u);
}

TEST(SvgMemory, WhatIsUnknownIsSaid) {
  MemoryUse nothing;
  nothing.rank = RankId(0);
  const std::string svg = svg_memory(Timeline{}, {nothing}, 0);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "peak unknown"), 1u);
  EXPECT_EQ(occurrences(svg, "nan"), 0u);
}

}  // namespace
}  // namespace penstock
