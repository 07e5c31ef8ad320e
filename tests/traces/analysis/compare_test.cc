#include "traces/analysis/compare.h"

#include <gtest/gtest.h>

#include "tests/traces/sample_timeline.h"

namespace penstock {
namespace {

using test::sample_timeline;

TEST(Compare, ATimelineEqualsItself) {
  const auto result = compare(sample_timeline(3), sample_timeline(3));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->error, 0);
  EXPECT_EQ(result->predicted, Nanoseconds(90'000));
  EXPECT_EQ(result->matched,
            14);  // of two microbatches SEND, RECV, two F and two BF, and two STEPs
  for (const OpComparison& op : result->ops) EXPECT_EQ(op.error, 0);
}

TEST(Compare, TheErrorIsRelativeToWhatWasMeasured) {
  const auto result = compare(sample_timeline(3), sample_timeline(3, 1.25));
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->error, -0.2);
  for (const OpComparison& op : result->ops) EXPECT_NEAR(op.error, -0.2, 1e-9);
}

TEST(Compare, SaysWhetherWorkOrWaitingIsLonger) {
  Timeline measured =
      sample_timeline(3);  // every step ends 12 us later, with nothing more done in it
  for (Span& span : measured.spans) {
    const Nanoseconds later(12'000 * (span.step + (span.key.op == Op::Step ? 1 : 0)));
    span.start += later;
    span.end += later;
  }
  const auto result = compare(sample_timeline(3), measured);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->busy_error(), 0);
  EXPECT_EQ(result->more_waiting(), Nanoseconds(12'000));
  for (const RankComparison& rank : result->ranks) {
    EXPECT_EQ(rank.measured_busy, rank.predicted_busy);
    EXPECT_EQ(rank.measured_idle - rank.predicted_idle, Nanoseconds(12'000));
  }
}

TEST(Compare, WorkThatTakesLongerIsNotWaiting) {
  const auto result = compare(sample_timeline(3), sample_timeline(3, 1.25));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->busy_error(), 0.2, 1e-9);
}

// Costs count the squares of clipping with the update: so does the comparison.
TEST(Compare, SquaresOfNormsAreTimeOfTheUpdate) {
  Timeline measured = sample_timeline(3);
  measured.labels = {"squared norms"};
  std::vector<Span> spans;
  for (const Span& span : measured.spans) {
    if (span.key.op == Op::Step) {
      Span squares = span;
      squares.key.op = Op::Gather;
      squares.label = 0;
      squares.end = span.start;
      squares.start = span.start - (span.end - span.start);
      spans.push_back(squares);
    }
    spans.push_back(span);
  }
  measured.spans = spans;
  const auto result = compare(sample_timeline(3), measured);
  ASSERT_TRUE(result) << result.error().text();
  std::size_t updates = 0;
  for (const OpComparison& op : result->ops) {
    if (op.op != Op::Step) continue;
    EXPECT_DOUBLE_EQ(op.error, -0.5);
    ++updates;
  }
  EXPECT_GT(updates, 0u);
}

TEST(Compare, WarmUpStepsAreLeftOut) {
  Timeline measured = sample_timeline(4);
  measured.warmup_steps = 1;
  for (Span& span : measured.spans) {
    if (span.step == 0 && span.key.op == Op::F)
      span.start -= Nanoseconds(1'000'000);  // a cold start
  }
  const auto result = compare(sample_timeline(3), measured);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error, 0);
}

TEST(Compare, PredictionOfOneStepIsComparedWithManyMeasured) {
  const auto result = compare(sample_timeline(1), sample_timeline(20));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->ops.size(), 8u);
}

TEST(Compare, TimelinesOfDifferentPlansAreAMismatch) {
  Timeline other = sample_timeline(3);
  other.plan_digest = "fedcba9876543210";
  const auto result = compare(sample_timeline(3), other);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Infeasible);
}

TEST(Compare, AnInstructionThatOnlyOneHasIsNamed) {
  Timeline other = sample_timeline(3);
  std::erase_if(other.spans, [](const Span& s) {
    return s.key.op == Op::BF && s.key.stage == 1 && s.key.microbatch == 1;
  });
  other.flows.clear();
  const auto result = compare(sample_timeline(3), other);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("only the predicted timeline has BF 1.1"),
            std::string::npos)
      << result.error().message;
}

}  // namespace
}  // namespace penstock
