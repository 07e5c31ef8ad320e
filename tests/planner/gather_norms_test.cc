#include "planner/gather_norms.h"

#include <gtest/gtest.h>

#include "core/buckets.h"
#include "core/program_check.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "sim/engine.h"

namespace penstock {
namespace {

Plan plan_of(double clip, std::int32_t ranks) {
  PlanRequest request;
  request.workload = *build_workload("mlp:layers=6,width=64,batch=12");
  request.workload.optimizer.clip = clip;
  request.cluster = *load_cluster("flat:4,bandwidth=10GB/s,latency=2us,memory=16GiB,device=v100");
  request.ranks = ranks;
  const auto plan = make_plan(request);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan.value_or(Plan());
}

TEST(GatherNorms, StandsOnEveryRankBeforeItsFirstStepWithATableOfAllParameters) {
  for (std::int32_t ranks = 1; ranks <= 4; ++ranks) {
    const Plan plan = plan_of(1, ranks);
    for (const Violation& violation : verify(plan))
      ADD_FAILURE() << violation.rule << ": " << violation.message;
    const Program program = *lower(plan);
    EXPECT_TRUE(check(program).empty());
    std::int64_t parameters = 0;
    for (const Layer& layer : plan.workload.networks[0].layers)
      parameters += static_cast<std::int64_t>(layer.parameters.size());
    ASSERT_EQ(program.groups.size(), 1u);
    EXPECT_EQ(program.groups[0].bytes.value, 8 * parameters);
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      const std::vector<Instruction>& body = program.ranks[r].streams[0].body;
      for (std::size_t i = 0; i < body.size(); ++i)
        if (body[i].key.op == Op::Step) {
          EXPECT_EQ(body[i - 1].key.op, Op::Gather);
        }
      std::int64_t tables = 0;
      for (const Buffer& buffer : program.buffers_of(RankId(static_cast<std::int64_t>(r))))
        tables += buffer.cls == BufferClass::Norms && buffer.bytes.value == 8 * parameters;
      EXPECT_EQ(tables, 1);
    }
    const auto result = simulate(program, {.steps = 1});
    ASSERT_TRUE(result) << result.error().text();
    const Nanoseconds expected = ranks == 1 ? Nanoseconds(0)
                                            : ring_gather(ranks, plan.gather_latency, plan.gather_bandwidth,
                                                          program.groups[0].bytes);
    std::int32_t gathers = 0;
    for (const Span& span : result->timeline.spans) {
      if (span.key.op != Op::Gather) continue;
      EXPECT_EQ(span.end - span.start, expected);
      ++gathers;
    }
    EXPECT_EQ(gathers, ranks);
  }
}

TEST(GatherNorms, IsNotThereWhereNothingIsClipped) {
  const Plan plan = plan_of(0, 3);
  EXPECT_EQ(plan.gather_bandwidth.value, 0);
  EXPECT_TRUE(lower(plan)->groups.empty());
}

TEST(GatherNorms, ARankThatDoesNotGatherIsRefused) {
  Program program = *lower(plan_of(1, 3));
  std::vector<Instruction>& body = program.ranks[1].streams[0].body;
  for (Instruction& instruction : body)
    if (instruction.key.op == Op::Gather) instruction.key.op = Op::Wait, instruction.target = -1;
  bool found = false;
  for (const Violation& violation : check(program))
    found = found || (violation.rule == "R10" && violation.message.find("clipped") != std::string::npos);
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace penstock
