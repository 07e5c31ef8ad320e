#include "exec/training.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>

#include "core/random.h"
#include "tests/exec/sample_plan.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

const std::string kMlp = "mlp:layers=5,width=24,batch=8";

RunOptions options(std::int32_t steps) {
  RunOptions out{};
  out.steps = steps;
  out.seed = 5;
  out.data = test::sample_text();
  return out;
}

Plan plan_with(const Optimizer& optimizer, std::int32_t stages) { return test::sample_plan(kMlp, "1f1b", stages, 2, optimizer); }

RunResult must(Result<RunResult> result) {
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text();
  return {};
}

RunResult pipelined(const Plan& plan, const RunOptions& run_options) { return must(run(plan, test::sample_program(plan), run_options)); }

std::vector<Optimizer> optimizers() {
  Optimizer sgd, adam = default_optimizer(OptimizerKind::Adam), adamw = default_optimizer(OptimizerKind::AdamW);
  sgd.weight_decay = 0.01;
  sgd.schedule = {.kind = DecayKind::Step, .warmup = 3, .every = 4, .factor = 0.5};
  adamw.schedule = {.kind = DecayKind::Cosine, .warmup = 4, .steps = 15, .final = 0.1};
  return {Optimizer(), sgd, adam, adamw};
}

TEST(Training, EveryOptimizerEqualsItsReferenceBitForBitOnAnyNumberOfStages) {
  for (const Optimizer& optimizer : optimizers()) {
    const RunResult reference = must(run_reference(plan_with(optimizer, 1), options(12)));
    for (const std::int32_t stages : {1, 2, 4}) {
      const RunResult result = pipelined(plan_with(optimizer, stages), options(12));
      EXPECT_EQ(result.timeline.losses, reference.timeline.losses) << stages;
      EXPECT_EQ(result.timeline.weights_digest, reference.timeline.weights_digest) << stages;
    }
  }
}

TEST(Training, StepsAreReportedInOrderWithTheirRatesAndLosses) {
  const Optimizer optimizer = optimizers().back();
  const Plan plan = plan_with(optimizer, 3);
  RunOptions run_options = options(20);
  std::vector<StepReport> reports;
  run_options.on_step = [&](const StepReport& report) { reports.push_back(report); };
  const RunResult result = pipelined(plan, run_options);
  ASSERT_EQ(reports.size(), 20u);
  for (std::size_t s = 0; s < reports.size(); ++s) {
    const auto step = static_cast<std::int64_t>(s);
    EXPECT_EQ(reports[s].step, step);
    EXPECT_EQ(reports[s].loss, result.timeline.losses[s]);
    EXPECT_EQ(reports[s].learning_rate, learning_rate_at(optimizer, step));
    EXPECT_GE(reports[s].took, Nanoseconds(0));
  }
}

TEST(Training, AResumedRunGoesOnAsIfItHadNeverStopped) {
  for (const Optimizer& optimizer : optimizers()) {
    const test::TempDir folder;
    const std::string path = (folder / "c").string();
    const RunResult whole = pipelined(plan_with(optimizer, 2), options(15));
    RunOptions first = options(6);
    first.checkpoint.save = path;
    EXPECT_EQ(pipelined(plan_with(optimizer, 2), first).checkpoint_step, 6);
    RunOptions rest = options(15);
    rest.checkpoint.resume = path;
    const std::vector<double> expected(whole.timeline.losses.begin() + 6, whole.timeline.losses.end());
    // On as many stages, on others, and by the reference.
    for (const RunResult& result : {pipelined(plan_with(optimizer, 2), rest), pipelined(plan_with(optimizer, 4), rest),
                                    must(run_reference(plan_with(optimizer, 1), rest))}) {
      EXPECT_EQ(result.first_step, 6);
      EXPECT_EQ(result.steps, 9);
      EXPECT_EQ(result.timeline.losses, expected);
      EXPECT_EQ(result.timeline.weights_digest, whole.timeline.weights_digest);
    }
  }
}

TEST(Training, ACheckpointOfTheReferenceServesThePipeline) {
  const test::TempDir folder;
  const Optimizer optimizer = default_optimizer(OptimizerKind::AdamW);
  RunOptions first = options(5), rest = options(9);
  first.checkpoint.save = rest.checkpoint.resume = (folder / "c").string();
  must(run_reference(plan_with(optimizer, 1), first));
  EXPECT_EQ(pipelined(plan_with(optimizer, 3), rest).timeline.weights_digest,
            pipelined(plan_with(optimizer, 3), options(9)).timeline.weights_digest);
}

TEST(Training, CheckpointsAndEvaluationsOnTheWayChangeNoBit) {
  const test::TempDir folder;
  const Plan plan = plan_with(default_optimizer(OptimizerKind::Adam), 3);
  RunOptions busy = options(14);
  busy.checkpoint = {.save = (folder / "c").string(), .every = 3, .resume = {}};
  busy.evaluation = {.data = test::sample_text(), .every = 4, .batches = 2};
  const RunResult result = pipelined(plan, busy), plain = pipelined(plan, options(14));
  EXPECT_EQ(result.timeline.losses, plain.timeline.losses);
  EXPECT_EQ(result.timeline.weights_digest, plain.timeline.weights_digest);
  EXPECT_EQ(result.checkpoint_step, 14);
  ASSERT_EQ(result.evaluations.size(), 4u);
  const std::int64_t steps[] = {4, 8, 12, 14};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(result.evaluations[i].step, steps[i]);
  const RunResult reference = must(run_reference(plan_with(default_optimizer(OptimizerKind::Adam), 1), busy));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(reference.evaluations[i].loss, result.evaluations[i].loss);
}

TEST(Training, ACheckpointWithNothingLeftToDoIsRefused) {
  const test::TempDir folder;
  RunOptions first = options(5);
  first.checkpoint.save = (folder / "c").string();
  const Plan plan = plan_with(Optimizer(), 1);
  pipelined(plan, first);
  first.checkpoint.resume = first.checkpoint.save;
  const auto again = run(plan, test::sample_program(plan), first);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::Usage);
}

TEST(Training, ACheckpointThatCannotBeWrittenIsRefusedBeforeTheWork) {
  RunOptions run_options = options(5);
  run_options.checkpoint.save = "/dev/null";
  run_options.on_step = [](const StepReport&) { ADD_FAILURE() << "a step was done"; };
  const Plan plan = plan_with(Optimizer(), 1);
  for (const auto& refused : {run(plan, test::sample_program(plan), run_options), run_reference(plan, run_options)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Usage);
  }
}

TEST(Training, ACheckpointThatFailsInTheEndCostsNothingElse) {
  const test::TempDir folder;
  const std::string away = (folder / "there").string();
  std::filesystem::create_directory(away);
  RunOptions run_options = options(3);
  run_options.checkpoint.save = away + "/c";
  run_options.on_step = [&](const StepReport&) { std::filesystem::remove_all(away); };
  const RunResult result = pipelined(plan_with(Optimizer(), 2), run_options);
  EXPECT_EQ(result.timeline.losses.size(), 3u);
  EXPECT_EQ(result.checkpoint_step, -1);
  ASSERT_TRUE(result.checkpoint_failure);
  EXPECT_EQ(result.checkpoint_failure->code, ErrorCode::RunFailed);
}

TEST(Training, AStopDuringTheEvaluationInTheEndLeavesItOut) {
  std::stop_source stop;
  RunOptions run_options = options(2);
  run_options.stop = stop.get_token();
  run_options.evaluation = {.data = run_options.data, .batches = 1'000'000};
  run_options.on_step = [&](const StepReport& step) {
    if (step.step == 1) stop.request_stop();
  };
  const RunResult result = pipelined(plan_with(Optimizer(), 2), run_options);
  EXPECT_EQ(result.steps, 2);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.evaluations.empty());
}

TEST(Training, AnInterruptedRunKeepsWhatItHasDone) {
  const test::TempDir folder;
  const Plan plan = plan_with(Optimizer(), 2);
  std::stop_source source;
  RunOptions stopped = options(100'000);
  stopped.stop = source.get_token();
  stopped.checkpoint.save = (folder / "c").string();
  stopped.on_step = [&](const StepReport&) { source.request_stop(); };
  const RunResult part = pipelined(plan, stopped);
  ASSERT_TRUE(part.interrupted);
  EXPECT_EQ(part.checkpoint_step, part.steps);
  RunOptions rest = options(part.steps + 3);
  rest.checkpoint.resume = stopped.checkpoint.save;
  EXPECT_EQ(pipelined(plan, rest).timeline.weights_digest, pipelined(plan, options(part.steps + 3)).timeline.weights_digest);
}

TEST(Training, ClippingInTheReferenceShortensTheGradientToTheLimit) {
  Optimizer optimizer;
  optimizer.momentum = 0;
  optimizer.learning_rate = 1;
  optimizer.clip = 1e-3;
  RunOptions run_options = options(3);
  std::vector<double> norms;
  run_options.on_step = [&](const StepReport& report) { norms.push_back(report.gradient_norm); };
  const RunResult clipped = must(run_reference(plan_with(optimizer, 1), run_options));
  ASSERT_EQ(norms.size(), 3u);
  for (const double norm : norms) EXPECT_GT(norm, 1e-3);
  // With a limit that is never reached nothing changes, bit for bit.
  Optimizer loose = optimizer, none = optimizer;
  loose.clip = 1e9;
  none.clip = 0;
  loose.learning_rate = none.learning_rate = 0.1;
  const RunResult a = must(run_reference(plan_with(loose, 1), options(5))), b = must(run_reference(plan_with(none, 1), options(5)));
  EXPECT_EQ(a.timeline.weights_digest, b.timeline.weights_digest);
  // Three steps of at most 1e-3 in all weights together: the loss hardly moves, where it moves without a limit.
  EXPECT_NEAR(clipped.timeline.losses[2], clipped.timeline.losses[0], 0.05);
  EXPECT_NE(clipped.timeline.losses[2], clipped.timeline.losses[0]);
  none.learning_rate = 1;
  const RunResult free = must(run_reference(plan_with(none, 1), options(3)));
  EXPECT_EQ(free.timeline.losses[0], clipped.timeline.losses[0]);
  EXPECT_GT(std::abs(free.timeline.losses[2] - free.timeline.losses[0]), 10 * std::abs(clipped.timeline.losses[2] - clipped.timeline.losses[0]));
}

// The weights after one step of plain descent, as the checkpoint has them.
std::vector<float> weights_after_a_step(const Plan& plan) {
  class Kept final : public ParameterAccess {
   public:
    void read(std::size_t, std::int32_t, std::span<float>) const override { ADD_FAILURE() << "nothing is saved"; }
    void write(std::size_t, std::int32_t, std::span<const float> values) override {
      weights.insert(weights.end(), values.begin(), values.end());
    }
    std::vector<float> weights;
  };
  const test::TempDir folder;
  RunOptions run_options = options(1);
  run_options.checkpoint.save = (folder / "c").string();
  must(run_reference(plan, run_options));
  const auto kept = Checkpoint::load(run_options.checkpoint.save, CheckpointIdentity::of(plan, 5), plan.workload);
  Kept out;
  EXPECT_TRUE(kept && kept->restore(out));
  return out.weights;
}

// Independently of squared_norm and clip_factor: the update without a limit is −g, and with one of c it must be
// −g · c/(|g| + 1e-6), in length and in direction.
TEST(Training, TheClippedUpdateIsTheGradientTimesTheLimitOverItsNorm) {
  Optimizer optimizer;
  optimizer.momentum = 0;
  optimizer.learning_rate = 1;
  Optimizer still = optimizer;
  still.learning_rate = 0;
  const std::vector<float> before = weights_after_a_step(plan_with(still, 1)), free = weights_after_a_step(plan_with(optimizer, 1));
  ASSERT_EQ(free.size(), before.size());
  long double squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const long double g = static_cast<long double>(before[i]) - free[i];
    squares += g * g;
  }
  const auto norm = static_cast<double>(std::sqrt(squares));
  optimizer.clip = norm / 4;
  const std::vector<float> clipped = weights_after_a_step(plan_with(optimizer, 1));
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double g = static_cast<double>(before[i]) - free[i], moved = static_cast<double>(before[i]) - clipped[i];
    largest = std::max(largest, std::abs(g));
    ASSERT_NEAR(moved, g * optimizer.clip / (norm + 1e-6), 1e-6) << i;
  }
  EXPECT_GT(largest, 1e-3) << "the gradients are too small to tell";
}

// A run that keeps its state every other step is killed at moments spread over its work, and resumed until it is done.
TEST(TrainingSlow, KilledAtAnyMomentItGoesOnToTheSameEnd) {
  const Plan plan = plan_with(default_optimizer(OptimizerKind::AdamW), 2);
  const Program program = test::sample_program(plan);
  constexpr std::int32_t kSteps = 120;
  const auto start = std::chrono::steady_clock::now();
  const RunResult whole = pipelined(plan, options(kSteps));
  const auto length = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
  const test::TempDir folder;
  const std::string path = (folder / "c").string();
  const auto start_anew = [&] {
    std::filesystem::remove(path);
    std::filesystem::remove(previous_checkpoint(path));
  };
  int kills = 0, resumed = 0;
  std::int64_t reached = 0;
  for (std::uint64_t attempt = 0; kills < 50; ++attempt) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunOptions run_options = options(kSteps);
      run_options.checkpoint = {.save = path, .every = 2, .resume = std::filesystem::exists(path) ? path : ""};
      std::_Exit(run(plan, program, run_options) ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(mix(attempt) % static_cast<std::uint64_t>(2 * length)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0) << "a resumed run failed";
      start_anew();
      reached = 0;
      continue;
    }
    ++kills;
    if (!std::filesystem::exists(path)) continue;
    std::string warning;
    const auto kept = Checkpoint::load_latest(path, CheckpointIdentity::of(plan, 5), plan.workload, warning);
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_EQ(warning, "") << "a kill damaged the latest checkpoint";
    EXPECT_GE(kept->step(), reached);
    reached = kept->step();
    if (reached == kSteps) {
      start_anew();
      reached = 0;
      continue;
    }
    // What would come now is what came in the undisturbed run.
    RunOptions rest = options(kSteps);
    rest.checkpoint.resume = path;
    const RunResult result = pipelined(plan, rest);
    ASSERT_EQ(result.first_step, reached);
    ASSERT_EQ(result.timeline.losses, std::vector<double>(whole.timeline.losses.begin() + reached, whole.timeline.losses.end()));
    ASSERT_EQ(result.timeline.weights_digest, whole.timeline.weights_digest);
    ++resumed;
  }
  EXPECT_GT(resumed, 5) << "the kills hit what they were meant to hit";
}

}  // namespace
}  // namespace penstock
