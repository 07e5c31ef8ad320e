#include "exec/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

using test::sample_plan;
using test::sample_program;

const std::string kGpt = "gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8";
const std::string kMlp = "mlp:layers=5,width=48,batch=8";

RunOptions options(std::int32_t steps) {
  RunOptions out{};
  out.steps = steps;
  out.seed = 11;
  out.data = test::sample_text();
  return out;
}

RunResult must_run(const Plan& plan, std::int32_t steps) {
  auto result = run(plan, sample_program(plan), options(steps));
  if (!result) {
    ADD_FAILURE() << result.error().text();
    return {};
  }
  return *result;
}

class RunArithmetic : public ::testing::TestWithParam<std::string> {};

TEST_P(RunArithmetic, EveryStageCountAndScheduleEqualsTheReferenceBitForBit) {
  for (const std::int64_t microbatch : {1, 2, 4}) {
    std::string digest;
    std::vector<double> losses;
    for (const std::string schedule : {"gpipe", "1f1b"}) {
      for (const std::int32_t stages : {1, 2, 3, 4}) {
        const Plan plan = sample_plan(GetParam(), schedule, stages, microbatch);
        ASSERT_EQ(plan.stages.size(), static_cast<std::size_t>(stages));
        const RunResult result = must_run(plan, 20);
        if (digest.empty()) {
          auto reference = run_reference(plan, options(20));
          ASSERT_TRUE(reference) << reference.error().text();
          digest = reference->timeline.weights_digest;
          losses = reference->timeline.losses;
          ASSERT_EQ(losses.size(), 20u);
        }
        EXPECT_EQ(result.timeline.weights_digest, digest) << schedule << " on " << stages << " stages, microbatch " << microbatch;
        EXPECT_EQ(result.timeline.losses, losses) << schedule << " on " << stages << " stages, microbatch " << microbatch;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, RunArithmetic, ::testing::Values(kGpt, kMlp));

TEST(Run, TheMeterFindsTheLayoutsPeakByteForByte) {
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const std::int32_t stages : {1, 2, 3}) {
      const Plan plan = sample_plan(kGpt, schedule, stages, 1);
      const Program program = sample_program(plan);
      const auto result = run(plan, program, options(2));
      ASSERT_TRUE(result) << result.error().text();
      EXPECT_EQ(result->timeline.peak_memory, program.arena);
      EXPECT_EQ(result->timeline.live_peak, program.live_peak);
    }
  }
}

TEST(Run, TheSameSeedGivesTheSameRunAndAnotherADifferentOne) {
  const Plan plan = sample_plan(kGpt, "1f1b", 2, 2);
  const Program program = sample_program(plan);
  RunOptions a = options(3), b = options(3);
  b.seed = a.seed + 1;
  const auto first = run(plan, program, a), second = run(plan, program, a), other = run(plan, program, b);
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(first->timeline.weights_digest, second->timeline.weights_digest);
  EXPECT_NE(first->timeline.weights_digest, other->timeline.weights_digest);
}

TEST(Run, SpansAreTheProgramsInstructionsInEveryStep) {
  const Plan plan = sample_plan(kGpt, "1f1b", 2, 2);
  const Program program = sample_program(plan);
  const auto result = run(plan, program, options(3));
  ASSERT_TRUE(result);
  std::map<InstructionKey, int> expected;
  std::size_t waits = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Stream& stream : rank.streams) {
      for (const Instruction& instruction : stream.body) {
        if (instruction.key.op == Op::Wait) {
          ++waits;
        } else {
          expected[instruction.key] += 3;
        }
      }
    }
  }
  for (const Span& span : result->timeline.spans) --expected[span.key];
  for (const auto& [key, left] : expected) EXPECT_EQ(left, 0) << text(key);
  EXPECT_EQ(result->timeline.spans.size() + 3 * waits, 3 * program.instruction_count());
}

TEST(Run, SpansOfATrackDoNotOverlapAndMessagesLeaveBeforeTheyArrive) {
  const Plan plan = sample_plan(kGpt, "1f1b", 3, 2);
  const auto result = run(plan, sample_program(plan), options(3));
  ASSERT_TRUE(result);
  const Timeline& timeline = result->timeline;
  for (std::size_t i = 1; i < timeline.spans.size(); ++i) {
    if (timeline.spans[i].track == timeline.spans[i - 1].track) {
      EXPECT_GE(timeline.spans[i].start, timeline.spans[i - 1].end);
    }
  }
  EXPECT_EQ(timeline.flows.size(), 3u * 2 * 2 * 4);  // steps × inner boundaries × both ways × microbatches
  for (const Flow& flow : timeline.flows) {
    EXPECT_EQ(timeline.spans[flow.from].key.op, Op::Send);
    EXPECT_EQ(timeline.spans[flow.to].key.op, Op::Recv);
    EXPECT_LE(timeline.spans[flow.from].start, timeline.spans[flow.to].end);
  }
}

TEST(Run, TheLossFalls) {
  Plan plan = sample_plan("gpt:layers=2,hidden=64,heads=4,sequence=32,batch=16", "1f1b", 2, 4);
  const RunResult result = must_run(plan, 60);
  ASSERT_EQ(result.timeline.losses.size(), 60u);
  EXPECT_LT(result.timeline.losses.back(), 0.75 * result.timeline.losses.front());
}

TEST(Run, ALossThatIsNotFiniteStopsTheRunAndSaysWhere) {
  Plan plan = sample_plan(kGpt, "1f1b", 2, 2);
  plan.workload.optimizer.learning_rate = 1e30;
  const auto result = run(plan, sample_program(plan), options(10));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RunFailed);
  EXPECT_NE(result.error().message.find("step"), std::string::npos) << result.error().message;
}

TEST(Run, AStopTakesEffectWithinThreeStepsOnEveryRank) {
  const Plan plan = sample_plan(kGpt, "1f1b", 3, 1);
  std::stop_source source;
  RunOptions run_options = options(100'000);
  run_options.stop = source.get_token();
  std::int64_t seen = 0;
  run_options.on_step = [&](const StepReport& report) {
    seen = report.step;
    source.request_stop();
  };
  const auto result = run(plan, sample_program(plan), run_options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->interrupted);
  // The gate closes at the next look of the watchdog (50 ms later), which steps of microseconds make many of.
  EXPECT_LT(result->steps, 100'000);
  EXPECT_GT(result->steps, seen);
  EXPECT_EQ(result->timeline.losses.size(), static_cast<std::size_t>(result->steps));
  for (const double loss : result->timeline.losses) EXPECT_GT(loss, 0);
}

TEST(Run, MoreStepsThanCanBeRecordedAreRefused) {
  const Plan plan = sample_plan(kGpt, "1f1b", 2, 1);
  const auto result = run(plan, sample_program(plan), options(2'000'000'000));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Usage);
  EXPECT_FALSE(result.error().hint.empty());
}

TEST(Run, AProgramOfAnotherPlanIsRefused) {
  const Plan plan = sample_plan(kGpt, "1f1b", 2, 1), other = sample_plan(kGpt, "1f1b", 3, 1);
  const auto result = run(plan, sample_program(other), options(1));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
}

TEST(Run, ARunGivenUpDoesNotIssueItsRemainingSteps) {
  Plan plan = sample_plan(kGpt, "1f1b", 2, 2);
  plan.workload.optimizer.learning_rate = 1e30;
  const auto result = run(plan, sample_program(plan), options(500'000));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RunFailed);
}

TEST(Run, AnUnknownBackendIsUnavailable) {
  const Plan plan = sample_plan(kGpt, "1f1b", 1, 2);
  RunOptions run_options = options(1);
  run_options.backend = "abacus";
  const auto result = run(plan, sample_program(plan), run_options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace penstock
