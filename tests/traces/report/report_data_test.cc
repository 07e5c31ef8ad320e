#include "traces/report/report_data.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

using test::sample_timeline;

std::string data_of(const Timeline& predicted, const Timeline& measured) {
  return report_data(predicted, choose_steps(predicted), measured, choose_steps(measured));
}

TEST(ReportData, TheMedianTheFastestAndTheSlowestStepAreChosen) {
  Timeline timeline = sample_timeline(6);
  timeline.warmup_steps = 1;
  // Steps end at 89, 179, 269 … us; step 3 ends 20 us late and step 4 begins anew from there: 90, 90, 110, 70, 90.
  for (Span& span : timeline.spans) {
    if (span.step == 3) span.end += Nanoseconds(20'000);
  }
  const std::vector<ChosenStep> steps = choose_steps(timeline);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].step, 1);
  EXPECT_EQ(steps[0].time, Nanoseconds(90'000));
  EXPECT_EQ(steps[1].step, 4);
  EXPECT_EQ(steps[1].what, "fastest");
  EXPECT_EQ(steps[2].step, 3);
  EXPECT_EQ(steps[2].what, "slowest");
}

TEST(ReportData, StepsThatAreAllAlikeAreDrawnOnce) {
  // The first step has no idle time before it: it alone is of another length.
  EXPECT_EQ(choose_steps(sample_timeline(4)).size(), 2u);
  EXPECT_EQ(choose_steps(sample_timeline(1)).size(), 1u);
  EXPECT_TRUE(choose_steps(Timeline{}).empty());
}

TEST(ReportData, EverySpanOfAStepIsThereOnceWithItsTimes) {
  const Timeline timeline = sample_timeline(1);
  const auto document = parse_json(data_of(timeline, timeline), "data");
  ASSERT_TRUE(document) << document.error().text();
  const Value& panel = document->find("panels")->array()[0];
  const Value& step = panel.find("steps")->array()[0];
  for (const char* key : {"lane", "row", "start", "length", "paint", "shade", "busy", "label", "name"})
    EXPECT_EQ(step.find(key)->array().size(), timeline.spans.size()) << key;
  EXPECT_EQ(step.find("total")->integer(), 89'000);
  EXPECT_EQ(step.find("start")->array()[1].integer(), 10'000);
  EXPECT_EQ(step.find("length")->array()[1].integer(), 10'000);
}

TEST(ReportData, CounterpartsHaveOneName) {
  const auto document = parse_json(data_of(sample_timeline(1), sample_timeline(1, 2)), "data");
  ASSERT_TRUE(document);
  const auto names_of = [&](std::size_t panel) {
    std::vector<std::int64_t> out;
    for (const Value& name : document->find("panels")->array()[panel].find("steps")->array()[0].find("name")->array())
      out.push_back(name.integer());
    return out;
  };
  EXPECT_EQ(names_of(0), names_of(1));
  EXPECT_EQ(document->find("names")->array().size(), 14u);
}

TEST(ReportData, NothingInItEndsAScript) {
  Timeline timeline = sample_timeline(1);
  timeline.labels = {"</script><script>alert(1)"};
  timeline.spans[0].label = 0;
  timeline.tracks[1].lane = "<!--";
  const std::string text = data_of(timeline, timeline);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_TRUE(parse_json(text, "data"));
}

}  // namespace
}  // namespace penstock
