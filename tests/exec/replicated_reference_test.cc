#include "exec/replicated_reference.h"

#include <gtest/gtest.h>

#include <map>

#include "core/program_check.h"
#include "exec/run.h"
#include "tests/exec/sample_plan.h"

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

INSTANTIATE_TEST_SUITE_P(Workloads, ReplicatedRun,
                         ::testing::Combine(::testing::Values("gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8",
                                                              "mlp:layers=5,width=48,batch=8"),
                                            ::testing::Values("gpipe", "1f1b")));

}  // namespace
}  // namespace penstock
