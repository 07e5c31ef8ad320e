// Convolutional networks, end to end: what is true of the runs of text models holds for them too,
// with skips that pass over stages.

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "exec/run.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

RunOptions options(std::int32_t steps) {
  RunOptions out{};
  out.steps = steps;
  out.seed = 11;
  out.data = "synthetic";
  return out;
}

class RunImages : public ::testing::TestWithParam<std::string> {};

TEST_P(RunImages, EveryStageCountAndScheduleEqualsTheReferenceBitForBit) {
  std::string digest;
  std::vector<double> losses;
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const std::int32_t stages : {1, 2, 3, 4}) {
      const Plan plan = test::sample_plan(GetParam(), schedule, stages, 2);
      ASSERT_EQ(plan.stages.size(), static_cast<std::size_t>(stages));
      const auto result = run(plan, test::sample_program(plan), options(6));
      ASSERT_TRUE(result) << result.error().text();
      if (digest.empty()) {
        const auto reference = run_reference(plan, options(6));
        ASSERT_TRUE(reference) << reference.error().text();
        digest = reference->timeline.weights_digest;
        losses = reference->timeline.losses;
      }
      EXPECT_EQ(result->timeline.weights_digest, digest) << schedule << " on " << stages;
      EXPECT_EQ(result->timeline.losses, losses) << schedule << " on " << stages;
    }
  }
}

// Everything at once: a norm that ranks gather, states that stages keep apart, normalisation that is run again.
TEST_P(RunImages, OptimizersClippingAndRecomputingChangeNoBit) {
  for (const OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW}) {
    Optimizer optimizer = default_optimizer(kind);
    optimizer.clip = 0.1;
    for (const Precision precision : {Precision::F32, Precision::BF16}) {
      std::string digest;
      for (const std::int32_t stages : {1, 2, 3}) {
        const Plan plan = test::sample_plan(GetParam(), stages == 2 ? "gpipe" : "1f1b", stages, 2, optimizer,
                                            {LayerKind::BatchNorm, LayerKind::Relu}, precision);
        const Program program = test::sample_program(plan);
        EXPECT_FALSE(plan.stages[0].recompute.empty());
        const auto result = run(plan, program, options(4));
        ASSERT_TRUE(result) << result.error().text();
        if (digest.empty()) {
          const auto reference = run_reference(plan, options(4));
          ASSERT_TRUE(reference) << reference.error().text();
          digest = reference->timeline.weights_digest;
        }
        EXPECT_EQ(result->timeline.weights_digest, digest) << static_cast<int>(kind) << " on " << stages;
        EXPECT_EQ(result->timeline.peak_memory, program.arena);
      }
    }
  }
}

TEST_P(RunImages, TheLossFalls) {
  const Plan plan = test::sample_plan(GetParam(), "1f1b", 2, 4);
  const auto result = run(plan, test::sample_program(plan), options(50));
  ASSERT_TRUE(result) << result.error().text();
  const std::vector<double>& losses = result->timeline.losses;
  ASSERT_EQ(losses.size(), 50u);
  const auto mean = [&](std::size_t first) {
    return std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(first),
                           losses.begin() + static_cast<std::ptrdiff_t>(first + 5), 0.0) /
           5;
  };
  EXPECT_LT(mean(45), 0.6 * mean(0));
}

INSTANTIATE_TEST_SUITE_P(Workloads, RunImages,
                         ::testing::Values("resnet:width=8,size=16,stages=2,classes=4,batch=8",
                                           "unet:width=4,size=16,batch=8"));

}  // namespace
}  // namespace penstock
