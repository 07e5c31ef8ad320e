#include "traces/report/error_source.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

using test::sample_timeline;

std::string verdict_of(const Timeline& predicted, const Timeline& measured) {
  const auto comparison = compare(predicted, measured);
  if (!comparison) return comparison.error().text();
  return verdict(*comparison, find_error_source(predicted, measured));
}

// Everything after the backward of microbatch 1 on rank 0 waits for it: it takes `more` longer in each step.
Timeline slow_backward(std::int64_t more) {
  Timeline timeline = sample_timeline(3);
  for (Span& span : timeline.spans) {
    const std::int64_t before = more * span.step;
    span.start += Nanoseconds(before);
    span.end += Nanoseconds(before);
    const bool rank0 = timeline.tracks[span.track].rank.value == 0;
    if (rank0 && span.key.op == Op::BF && span.key.microbatch == 1) span.end += Nanoseconds(more);
    if (rank0 && span.key.op == Op::Step) {
      span.start += Nanoseconds(more);
      span.end += Nanoseconds(more);
    }
  }
  return timeline;
}

TEST(ErrorSource, PartsAddUpToTheDifference) {
  const Timeline measured = slow_backward(15'000);
  const ErrorSource source = find_error_source(sample_timeline(3), measured);
  Nanoseconds sum;
  for (const ErrorPart& part : source.parts) sum += part.measured - part.predicted;
  EXPECT_EQ(sum, source.difference);
  EXPECT_EQ(source.difference, Nanoseconds(15'000));
  EXPECT_EQ(source.rank, RankId(0));
  ASSERT_FALSE(source.parts.empty());
  EXPECT_EQ(source.parts.front().op, Op::BF);
}

TEST(ErrorSource, ASlowOperationIsNamed) {
  EXPECT_EQ(verdict_of(sample_timeline(3), slow_backward(15'000)),
            "Predicted 90.0 us, measured 105 us a step: the prediction is 14.3 % too low; all of it is backward (BF) of stage 0 "
            "on rank 0, the busiest: on average 27.5 us each instead of 20.0 us.");
}

TEST(ErrorSource, WaitingIsNamed) {
  Timeline measured = sample_timeline(3);  // every step ends 12 us later, with nothing more done in it
  for (Span& span : measured.spans) {
    const Nanoseconds later(12'000 * (span.step + (span.key.op == Op::Step ? 1 : 0)));
    span.start += later;
    span.end += later;
  }
  EXPECT_EQ(verdict_of(sample_timeline(3), measured),
            "Predicted 90.0 us, measured 102 us a step: the prediction is 11.8 % too low; all of it is how long rank 0, the "
            "busiest, waits: 37.0 us a step instead of 25.0 us.");
}

TEST(ErrorSource, APredictionThatIsRightIsCalledSo) {
  EXPECT_EQ(verdict_of(sample_timeline(3), sample_timeline(3)), "Predicted 90.0 us, measured 90.0 us a step: the prediction is right.");
}

TEST(ErrorSource, APredictionThatIsTooHighIsExplainedToo) {
  const std::string said = verdict_of(slow_backward(15'000), sample_timeline(3));
  EXPECT_NE(said.find("16.7 % too high; all of it is backward (BF)"), std::string::npos) << said;
}

TEST(ErrorSource, OfNothingThereIsNoSource) {
  EXPECT_TRUE(find_error_source(Timeline{}, Timeline{}).parts.empty());
}

}  // namespace
}  // namespace penstock
