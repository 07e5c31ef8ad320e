#include "traces/writers/chrome_json.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(ChromeJson, IsJsonWithAnEventASpanAndAPairAFlow) {
  const Timeline timeline = test::sample_timeline(2);
  const std::string text = write_chrome_json(timeline);
  const auto document = parse_json(text, "trace.json");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_EQ(count(text, "\"ph\":\"X\""), timeline.spans.size());
  EXPECT_EQ(count(text, "\"ph\":\"s\""), timeline.flows.size());
  EXPECT_EQ(count(text, "\"ph\":\"f\""), timeline.flows.size());
  EXPECT_EQ(count(text, "\"thread_name\""), timeline.tracks.size());
  EXPECT_EQ(count(text, "\"process_name\""), 2u);
}

TEST(ChromeJson, TimesAreMicrosecondsThatKeepTheirNanoseconds) {
  Timeline timeline = test::sample_timeline(1);
  timeline.spans.resize(1);
  timeline.flows.clear();
  timeline.spans[0].start = Nanoseconds(1'234'567);
  timeline.spans[0].end = Nanoseconds(1'234'569);
  const std::string text = write_chrome_json(timeline);
  EXPECT_NE(text.find("\"ts\":1234.567,\"dur\":0.002"), std::string::npos) << text;
}

TEST(ChromeJson, MemoryIsACounterOfItsRank) {
  Timeline timeline = test::sample_timeline(1);
  timeline.counters = {{RankId(1), "memory", "B"}};
  timeline.points = {{0, Nanoseconds(2'500), 4096}};
  const std::string text = write_chrome_json(timeline);
  EXPECT_NE(text.find(R"("ph":"C","pid":1,"ts":2.500,"name":"memory","args":{"B":4096})"), std::string::npos) << text;
}

TEST(ChromeJson, ThreadsAreNumberedThroughAndNoneIsZero) {
  const std::string text = write_chrome_json(test::sample_timeline(1));
  EXPECT_EQ(count(text, "\"tid\":0,"), 0u);
  for (const char* thread : {"\"pid\":0,\"tid\":1,\"name\":\"thread_name\"", "\"pid\":0,\"tid\":2,\"name\":\"thread_name\"", "\"pid\":1,\"tid\":3,\"name\":\"thread_name\""})
    EXPECT_EQ(count(text, thread), 1u) << thread;
}

TEST(ChromeJson, NamesAreEscaped) {
  Timeline timeline = test::sample_timeline(1);
  timeline.tracks[0].lane = "a \"quoted\" lane\n";
  EXPECT_TRUE(parse_json(write_chrome_json(timeline), "trace.json"));
}

TEST(ChromeJson, AnEmptyTimelineIsAValidTrace) { EXPECT_TRUE(parse_json(write_chrome_json(Timeline{}), "trace.json")); }

}  // namespace
}  // namespace penstock
