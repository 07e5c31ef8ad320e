#include "traces/report/report.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"
#include "tests/traces/xml_check.h"

namespace penstock {
namespace {

using test::occurrences;
using test::sample_timeline;

std::string page_of(const Timeline& predicted, const Timeline& measured,
                    std::vector<std::pair<std::string, std::string>> provenance = {}) {
  const auto comparison = compare(predicted, measured);
  if (!comparison) return comparison.error().text();
  return write_report({.predicted = predicted, .measured = measured, .comparison = *comparison, .provenance = std::move(provenance)});
}

TEST(Report, IsWellFormedAndNeedsNothingElse) {
  const std::string page = page_of(sample_timeline(3), sample_timeline(6, 1.25));
  EXPECT_EQ(test::xml_fault(page), "");
  for (const char* outside : {"http", "src=", "@import", "url(", "<link", "href"}) EXPECT_EQ(occurrences(page, outside), 0u) << outside;
}

TEST(Report, BeginsWithTheVerdictAndEndsWithWhereItComesFrom) {
  const std::string page = page_of(sample_timeline(3), sample_timeline(3, 1.25), {{"machine", "a <fast> one"}, {"costs", ""}});
  EXPECT_EQ(occurrences(page, "<p class=\"verdict\">Predicted 90.0 us, measured 112 us a step: the prediction is 20.0 % too low"), 1u);
  EXPECT_EQ(occurrences(page, "<dd>0123456789abcdef</dd>"), 1u);
  EXPECT_EQ(occurrences(page, "<dt>machine</dt><dd>a &lt;fast&gt; one</dd>"), 1u);
  EXPECT_EQ(occurrences(page, "<dt>costs</dt>"), 0u) << "what is not known is not said";
}

TEST(Report, HasARowForEachOperationAndEachRank) {
  const Timeline timeline = sample_timeline(3);
  const auto comparison = compare(timeline, timeline);
  ASSERT_TRUE(comparison);
  const std::string page = page_of(timeline, timeline);
  EXPECT_EQ(occurrences(page, "<tr>"), comparison->ops.size() + comparison->ranks.size() + 2);
}

TEST(Report, NamesAreEscaped) {
  Timeline timeline = sample_timeline(3);
  timeline.name = "</title><script>'\"&";
  timeline.tracks[1].lane = "<lane>";
  const std::string page = page_of(timeline, timeline);
  EXPECT_EQ(test::xml_fault(page), "");
  EXPECT_EQ(occurrences(page, "<script"), 2u) << "the data and the page's own";
}

TEST(Report, SameInputSameBytes) {
  EXPECT_EQ(page_of(sample_timeline(3), sample_timeline(5, 2)), page_of(sample_timeline(3), sample_timeline(5, 2)));
}

TEST(Report, StepsToChooseFromAreOfferedWhereThereAreSeveral) {
  EXPECT_EQ(occurrences(page_of(sample_timeline(3), sample_timeline(1)), "<option"), 0u);
  EXPECT_EQ(occurrences(page_of(sample_timeline(3), sample_timeline(5)), "<option"), 2u);
}

TEST(Report, OfNothingIsAPageToo) {
  Timeline nothing;
  nothing.name = "empty";
  const std::string page = page_of(nothing, nothing);
  EXPECT_EQ(test::xml_fault(page), "");
  EXPECT_EQ(occurrences(page, "nothing happened"), 2u);
}

TEST(Report, MemoryIsLeftOutWhereNothingIsKnownOfIt) {
  Timeline timeline = sample_timeline(3);
  EXPECT_EQ(occurrences(page_of(timeline, timeline), "<h2>Memory</h2>"), 1u);
  timeline.peak_memory = timeline.live_peak = {};
  EXPECT_EQ(occurrences(page_of(timeline, timeline), "<h2>Memory</h2>"), 0u);
}

}  // namespace
}  // namespace penstock
