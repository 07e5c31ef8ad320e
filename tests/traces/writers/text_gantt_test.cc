#include "traces/writers/text_gantt.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

TEST(TextGantt, DrawsEachOperationOverTheTimeItTakes) {
  // 89 µs over 89 columns: a column a microsecond.
  const std::string text = text_gantt(test::sample_timeline(), {.columns = 89});
  EXPECT_EQ(text,
            "rank 0 |F0========F1========......................B0##################..B1##################S++++|\n"
            "rank 1 |............F0========B0########..F1========B1##################S++++....................|\n"
            "        0                                                                                 89.0 us\n");
}

TEST(TextGantt, EveryLineOfARankHasTheSameWidthAtAnyScale) {
  for (const int columns : {1, 7, 30, 200}) {
    const std::string text = text_gantt(test::sample_timeline(), {.columns = columns});
    std::size_t at = 0;
    for (int rank = 0; rank < 2; ++rank) {
      const std::size_t end = text.find('\n', at);
      EXPECT_EQ(end - at, static_cast<std::size_t>(columns) + 9) << text;
      at = end + 1;
    }
  }
}

TEST(TextGantt, DrawsTheLastStepUnlessAskedForAnother) {
  Timeline timeline = test::sample_timeline(2);
  std::erase_if(timeline.spans, [](const Span& s) { return s.step == 1 && s.key.op == Op::Step; });
  EXPECT_EQ(text_gantt(timeline, {.columns = 89}).find('S'), std::string::npos);
  EXPECT_NE(text_gantt(timeline, {.columns = 89, .step = 0}).find('S'), std::string::npos);
}

TEST(TextGantt, NothingIsDrawnOfNothing) { EXPECT_EQ(text_gantt(Timeline{}), ""); }

}  // namespace
}  // namespace penstock
