#include <gtest/gtest.h>

#include "exec/run.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

TEST(Reference, RunsOneOperationAtATime) {
  const Plan plan = test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "1f1b", 2, 1);
  RunOptions options;
  options.steps = 2;
  options.data = test::sample_text();
  const auto result = run_reference(plan, options);
  ASSERT_TRUE(result) << result.error().text();
  const auto& spans = result->timeline.spans;
  ASSERT_EQ(spans.size(), 2u * (4 * 4 + 1));
  for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].start, spans[i - 1].end);
}

TEST(Reference, DoesNotDependOnTheDivisionIntoStages) {
  RunOptions options;
  options.steps = 3;
  options.data = test::sample_text();
  const auto one = run_reference(test::sample_plan("mlp:layers=4,width=16,batch=4", "gpipe", 1, 2), options);
  const auto three = run_reference(test::sample_plan("mlp:layers=4,width=16,batch=4", "1f1b", 3, 2), options);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->timeline.weights_digest, three->timeline.weights_digest);
}

TEST(Reference, AnotherMicrobatchSizeIsAnotherArithmetic) {
  RunOptions options;
  options.steps = 3;
  options.data = test::sample_text();
  const auto one = run_reference(test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "gpipe", 1, 1), options);
  const auto two = run_reference(test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "gpipe", 1, 2), options);
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->timeline.weights_digest, two->timeline.weights_digest);
  EXPECT_NEAR(one->timeline.losses[2], two->timeline.losses[2], 1e-4);
}

TEST(Reference, MoreStepsThanCanBeRecordedAreRefused) {
  const std::vector<Plan> plans = {test::sample_plan("mlp:layers=3,width=8,batch=256", "gpipe", 1, 1),
                                   test::replicated_plan("mlp:layers=3,width=8,batch=256", "gpipe", {2}, Split::RoundRobin, 1)};
  for (const Plan& plan : plans) {
    RunOptions run_options{};
    run_options.steps = 10'000'000;
    run_options.data = test::sample_text();
    const auto refused = run_reference(plan, run_options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
    EXPECT_NE(refused.error().message.find("can be recorded"), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace penstock
