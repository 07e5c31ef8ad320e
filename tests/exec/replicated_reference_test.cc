#include "exec/replicated_reference.h"

#include <gtest/gtest.h>

#include <map>

#include "core/program_check.h"
#include "exec/interpreter.h"
#include "exec/run.h"
#include "tests/exec/sample_plan.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

using test::replicated_plan;
using test::sample_program;

RunOptions options(std::int32_t steps) {
  RunOptions out{};
  out.steps = steps;
  out.seed = 11;
  out.data = test::sample_text();
  return out;
}

struct Shape {
  std::vector<std::int32_t> replicas;
  Split split;
  std::int64_t microbatch;
};

class ReplicatedRun : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ReplicatedRun, EqualsItsReferenceBitForBit) {
  const auto& [workload, schedule] = GetParam();
  const std::vector<Shape> shapes = {
      {{2}, Split::Batch, 4},      {{2, 1}, Split::Batch, 4},      {{1, 2}, Split::Batch, 4},
      {{2, 2}, Split::Batch, 2},   {{3, 2}, Split::Batch, 4},      {{1, 3}, Split::Batch, 8},
      {{2}, Split::RoundRobin, 2}, {{2, 1}, Split::RoundRobin, 2}, {{1, 2}, Split::RoundRobin, 2},
      {{2, 2}, Split::RoundRobin, 1}, {{3, 2}, Split::RoundRobin, 1}};
  for (const Shape& shape : shapes) {
    Plan plan = replicated_plan(workload, schedule, shape.replicas, shape.split, shape.microbatch);
    ASSERT_EQ(plan.stages.size(), shape.replicas.size());
    for (const Bytes limit : {Bytes(1 << 20), Bytes(1)}) {  // one bucket, and one a parameter
      plan.bucket_limits = {limit, limit};
      const Program program = sample_program(plan);
      const std::vector<Violation> violations = check(program);
      ASSERT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
      const auto ran = run(plan, program, options(5));
      ASSERT_TRUE(ran) << ran.error().text();
      const auto reference = run_reference(plan, options(5));
      ASSERT_TRUE(reference) << reference.error().text();
      EXPECT_EQ(ran->timeline.weights_digest, reference->timeline.weights_digest)
          << program.name << (shape.split == Split::Batch ? " batch " : " round robin ") << limit.value;
      EXPECT_EQ(ran->timeline.losses, reference->timeline.losses);
      EXPECT_LT(ran->timeline.losses.back(), ran->timeline.losses.front());
    }
  }
}

TEST(Clipping, OfAnyNumberOfStagesAndReplicasEqualsTheReferenceBitForBit) {
  const std::string gpt = "gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8";
  Optimizer sgd, adam;
  sgd.clip = 0.05;
  adam.kind = OptimizerKind::Adam;
  adam.learning_rate = 1e-3;
  adam.clip = 0.05;
  for (const Optimizer& optimizer : {sgd, adam}) {
    const auto equal = [&](const Plan& plan) {
      const Program program = sample_program(plan);
      const std::vector<Violation> violations = check(program);
      ASSERT_TRUE(violations.empty()) << violations.front().rule << ": " << violations.front().message;
      const auto ran = run(plan, program, options(5));
      ASSERT_TRUE(ran) << ran.error().text();
      const auto reference = run_reference(plan, options(5));
      ASSERT_TRUE(reference) << reference.error().text();
      EXPECT_EQ(ran->timeline.weights_digest, reference->timeline.weights_digest) << program.name;
      EXPECT_EQ(ran->timeline.losses, reference->timeline.losses) << program.name;
    };
    for (const std::int32_t stages : {1, 2, 3, 4}) {
      for (const char* schedule : {"gpipe", "1f1b"}) equal(test::sample_plan(gpt, schedule, stages, 2, optimizer));
    }
    for (const Split split : {Split::Batch, Split::RoundRobin}) {
      for (const std::vector<std::int32_t>& replicas : std::vector<std::vector<std::int32_t>>{{2}, {2, 1}, {1, 2}, {2, 2}}) {
        equal(replicated_plan(gpt, "1f1b", replicas, split, 2, optimizer));
      }
    }
  }
}

TEST(Clipping, SquaredNormsHaveASpanOfTheirOwnBeforeTheExchangeAndCountAsBusy) {
  Optimizer optimizer;
  optimizer.clip = 0.05;
  const Plan plan = test::sample_plan("mlp:layers=5,width=48,batch=8", "1f1b", 2, 2, optimizer);
  const auto ran = run(plan, sample_program(plan), options(5));
  ASSERT_TRUE(ran) << ran.error().text();
  const Timeline& timeline = ran->timeline;
  ASSERT_EQ(timeline.labels, std::vector<std::string>{std::string(kSquaresLabel)});
  std::map<std::pair<std::uint32_t, std::int32_t>, int> squares, exchanges;
  Timeline without = timeline;
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    if (span.key.op != Op::Gather) continue;
    EXPECT_LE(span.start, span.end);
    if (span.label < 0) {
      ++exchanges[{span.track, span.step}];
      continue;
    }
    ++squares[{span.track, span.step}];
    without.spans[i].label = -1;  // as if it were waiting
    ASSERT_LT(i + 1, timeline.spans.size());
    const Span& exchange = timeline.spans[i + 1];
    EXPECT_EQ(exchange.key, span.key);
    EXPECT_EQ(exchange.label, -1);
    EXPECT_LE(span.end, exchange.start);
  }
  EXPECT_EQ(squares.size(), 2u * 5u);
  EXPECT_EQ(squares, exchanges);
  const auto busy = [](const Timeline& of, std::size_t rank) {
    Nanoseconds time;
    for (const Span& span : of.spans) {
      const Track& track = of.tracks[span.track];
      if (track.rank.index() == rank && track.lane == kComputeLane && is_busy(span)) time += span.end - span.start;
    }
    return time;
  };
  for (std::size_t r = 0; r < 2; ++r) EXPECT_GT(busy(timeline, r), busy(without, r)) << r;
}

const char* const kResnet = "resnet:width=8,size=16,stages=2,classes=4,batch=8";

RunOptions image_options(std::int32_t steps) {
  RunOptions out = options(steps);
  out.data = "synthetic";
  return out;
}

void expect_equals_reference(const Plan& plan, const RunOptions& run_options) {
  const Program program = sample_program(plan);
  const auto ran = run(plan, program, run_options), reference = run_reference(plan, run_options);
  ASSERT_TRUE(ran) << ran.error().text();
  ASSERT_TRUE(reference) << reference.error().text();
  EXPECT_EQ(ran->timeline.weights_digest, reference->timeline.weights_digest) << program.name;
  EXPECT_EQ(ran->timeline.losses, reference->timeline.losses) << program.name;
}

// Statistics of batch norms are of each copy's own samples, and added up as gradients are.
TEST(ReplicatedExecution, BatchNormsOfReplicasEqualTheReferenceUnderBothSplits) {
  for (const Split split : {Split::Batch, Split::RoundRobin}) {
    for (const std::vector<std::int32_t>& replicas : std::vector<std::vector<std::int32_t>>{{2}, {2, 1}, {2, 2}})
      expect_equals_reference(replicated_plan(kResnet, "1f1b", replicas, split, 2), image_options(3));
  }
}

TEST(ReplicatedExecution, RecomputingInReplicasChangesNoBit) {
  for (const Split split : {Split::Batch, Split::RoundRobin}) {
    const Plan plan = replicated_plan(kResnet, "1f1b", {2, 1}, split, 2, {}, {LayerKind::Relu, LayerKind::BatchNorm});
    EXPECT_FALSE(plan.stages[0].recompute.empty());
    expect_equals_reference(plan, image_options(3));
    // Of one stage, whose division recomputing cannot change.
    const Plan one = replicated_plan(kResnet, "1f1b", {2}, split, 2, {}, {LayerKind::Relu, LayerKind::BatchNorm});
    const auto kept = run_reference(replicated_plan(kResnet, "1f1b", {2}, split, 2), image_options(3));
    const auto again = run(one, sample_program(one), image_options(3));
    ASSERT_TRUE(kept && again);
    EXPECT_EQ(again->timeline.losses, kept->timeline.losses);
  }
}

// The last backward of a replica comes in one part a bucket: all of them read what one R has made.
TEST(ReplicatedExecution, RecomputingBeforeABackwardInManyPartsChangesNoBit) {
  for (const std::vector<std::int32_t>& replicas : std::vector<std::vector<std::int32_t>>{{2, 1}, {1, 2}, {2, 2}}) {
    Plan plan = replicated_plan(kResnet, "1f1b", replicas, Split::Batch, 2, {}, {LayerKind::Relu, LayerKind::BatchNorm});
    plan.bucket_limits = {Bytes(512), Bytes(512)};
    const Program program = sample_program(plan);
    int parts = 0;
    for (const RankProgram& rank : program.ranks)
      for (const Instruction& instruction : rank.streams[0].body)
        if (program.is_part(instruction)) parts = std::max(parts, instruction.key.slice + 1);
    EXPECT_GE(parts, 3);
    const std::vector<Violation> violations = check(program);
    EXPECT_TRUE(violations.empty()) << violations.front().message;
    expect_equals_reference(plan, image_options(3));
  }
}

TEST(ReplicatedExecution, AResumedRunOfReplicasGoesOnAsIfItHadNeverStopped) {
  const test::TempDir folder;
  Optimizer adam = default_optimizer(OptimizerKind::Adam);
  for (const Split split : {Split::Batch, Split::RoundRobin}) {
    const Plan plan = replicated_plan(kResnet, "1f1b", {2, 2}, split, 2, adam);
    RunOptions first = image_options(2), rest = image_options(4);
    first.checkpoint.save = rest.checkpoint.resume = (folder / (split == Split::Batch ? "b" : "r")).string();
    const auto whole = run(plan, sample_program(plan), image_options(4));
    ASSERT_TRUE(whole && run(plan, sample_program(plan), first));
    for (const auto& resumed : {run(plan, sample_program(plan), rest), run_reference(plan, rest)}) {
      ASSERT_TRUE(resumed) << resumed.error().text();
      EXPECT_EQ(resumed->timeline.weights_digest, whole->timeline.weights_digest);
    }
    const Plan other = test::sample_plan(kResnet, "1f1b", 2, 2, adam);
    const auto refused = run(other, sample_program(other), rest);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Infeasible);
  }
}

TEST(ReplicatedReference, ReplicasWithPartsOfABatchTrainAsOneProcessWithTheWholeOfIt) {
  const std::string mlp = "mlp:layers=5,width=48,batch=8";
  const auto whole = run_reference(test::sample_plan(mlp, "gpipe", 1, 8, {}), options(5));
  const auto shared = run_reference(replicated_plan(mlp, "gpipe", {2}, Split::Batch, 8), options(5));
  ASSERT_TRUE(whole && shared);
  for (std::size_t step = 0; step < 5; ++step) {
    EXPECT_NEAR(shared->timeline.losses[step], whole->timeline.losses[step], 1e-6 * whole->timeline.losses[step]);
  }
}

TEST(ReplicatedExecution, TheExecutorRunsTheProgramsOwnOrder) {
  const Plan plan = replicated_plan("mlp:layers=5,width=48,batch=8", "1f1b", {2, 1}, Split::Batch, 2);
  const Program program = sample_program(plan);
  const auto ran = run(plan, program, options(2));
  ASSERT_TRUE(ran) << ran.error().text();
  std::vector<std::vector<InstructionKey>> order(ran->timeline.tracks.size());
  for (const Span& span : ran->timeline.spans) {
    if (span.step == 1) order[span.track].push_back(span.key);
  }
  std::size_t track = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Stream& stream : rank.streams) {
      std::vector<InstructionKey> expected;
      for (const Instruction& instruction : stream.body) {
        if (instruction.key.op != Op::Wait) expected.push_back(instruction.key);
      }
      EXPECT_EQ(order[track++], expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, ReplicatedRun,
                         ::testing::Combine(::testing::Values("gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8",
                                                              "mlp:layers=5,width=48,batch=8"),
                                            ::testing::Values("gpipe", "1f1b")));

}  // namespace
}  // namespace penstock
