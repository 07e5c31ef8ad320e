#include "planner/contention.h"

#include <gtest/gtest.h>

#include "core/formats/plan_format.h"
#include "core/formats/program_format.h"
#include "core/program_check.h"
#include "models/clusters/clusters.h"
#include "models/costs/flops.h"
#include "models/costs/memory_share.h"
#include "models/workloads/builders.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "planner/search.h"
#include "sim/engine.h"

namespace penstock {
namespace {

PlanRequest request_of(std::int32_t ranks, std::int64_t cores) {
  PlanRequest request;
  request.workload = *build_workload("gpt:layers=2,hidden=64,heads=4,sequence=32,batch=16");
  request.cluster = *load_cluster("flat:4,device=cpu,memory=1GiB");
  request.ranks = ranks;
  request.cores = cores;
  request.microbatch_sizes = {2};
  return request;
}

Plan planned(const PlanRequest& request) {
  const auto plan = make_plan(request);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan.value_or(Plan());
}

TEST(PlannedContention, RanksOnFewerCoresTakeTurnsAndThePlanStaysProven) {
  const Plan free = planned(request_of(4, 0)), shared = planned(request_of(4, 2));
  EXPECT_FALSE(free.contention.has_value());
  ASSERT_TRUE(shared.contention.has_value());
  EXPECT_EQ(shared.contention->cores, 2);
  EXPECT_GT(shared.iteration_time_s, free.iteration_time_s);
  for (const Violation& violation : verify(shared))
    ADD_FAILURE() << violation.rule << ": " << violation.message;
  EXPECT_LE(shared.certificate.lower_bound_s, shared.iteration_time_s);
  EngineOptions options;
  options.steps = 3;
  EXPECT_EQ(seconds(iteration_time(simulate(*lower(shared), options)->timeline)),
            shared.iteration_time_s);
}

TEST(PlannedContention, IsNotCarriedWhereItCanMakeNoDifference) {
  EXPECT_FALSE(planned(request_of(2, 2)).contention.has_value());
  EXPECT_FALSE(planned(request_of(1, 1)).contention.has_value());
}

TEST(PlannedContention, RecipesBecomeSegmentsThatLastAsLong) {
  Plan plan = planned(request_of(2, 0));
  const Program before = *lower(plan);
  plan.contention = Contention{.memory_bandwidth = BytesPerSecond(1e10)};  // nothing fits a cache of no bytes
  plan.contention->slowdown[1][1] = 1.5;
  const Program after = *lower(plan);
  EXPECT_TRUE(check(after).empty());
  ASSERT_EQ(after.recipes.size(), before.recipes.size());
  bool is_mixed = false;
  for (std::size_t r = 0; r < after.recipes.size(); ++r) {
    EXPECT_EQ(after.recipes[r].duration(), before.recipes[r].duration()) << after.recipes[r].name;
    for (std::size_t k = 1; k < after.recipes[r].segments.size(); ++k) {
      EXPECT_NE(after.recipes[r].segments[k].memory_share, after.recipes[r].segments[k - 1].memory_share);
      is_mixed = true;
    }
  }
  EXPECT_TRUE(is_mixed);
  for (const RankProgram& rank : after.ranks) EXPECT_EQ(rank.host, HostId(0));
  EXPECT_EQ(*read_program(std::string_view(write_program(after)), "p.json"), after);
  EXPECT_EQ(read_plan(write_plan(plan), "p.json")->contention, plan.contention);
}

// Putting neighbours together keeps, of each operation, the time that it waits for memory.
TEST(PlannedContention, SegmentsHaveTheirLayersSharesOfMemory) {
  Plan plan = planned(request_of(1, 0));
  plan.contention = Contention{.memory_bandwidth = BytesPerSecond(5e9)};
  const Network& network = plan.workload.networks[0];
  const std::vector<StageTimes>& times = plan.layer_times;
  double forward = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const MemoryShares shares =
        memory_shares(plan.workload, network.layers[i], input_shapes(network, LayerId(static_cast<std::int64_t>(i))),
                      plan.microbatch_size, times[i], *plan.contention);
    forward += shares.forward * seconds(times[i].forward);
  }
  ASSERT_GT(forward, 0);
  const Program program = *lower(plan);
  for (const Recipe& recipe : program.recipes) {
    if (recipe.name != "F stage 0") continue;
    double memory = 0;
    for (const Segment& segment : recipe.segments)
      memory += segment.memory_share * seconds(segment.duration);
    EXPECT_NEAR(memory, forward, 1e-3 * seconds(recipe.duration()));
  }
}

TEST(PlannedContention, OfTimesThatAreNoSumsAnOperationStaysOneSegment) {
  Plan plan = planned(request_of(2, 0));
  plan.contention = Contention{};
  plan.stages[0].times.forward += Nanoseconds(5);
  const Program program = *lower(plan);
  for (const Recipe& recipe : program.recipes) {
    if (recipe.name != "F stage 0") continue;
    ASSERT_EQ(recipe.segments.size(), 1u);
    EXPECT_EQ(recipe.segments[0].duration, plan.stages[0].times.forward);
  }
}

TEST(PlannedContention, PartsOfAReplicatedBackwardKeepTheirLayers) {
  PlanRequest request = request_of(0, 2);
  request.replicas = {2, 2};
  const Plan plan = planned(request);
  ASSERT_TRUE(plan.contention.has_value());
  const Program program = *lower(plan);
  EXPECT_TRUE(check(program).empty());
  for (const Violation& violation : verify(plan))
    ADD_FAILURE() << violation.rule << ": " << violation.message;
  for (const Recipe& recipe : program.recipes)
    for (const Segment& segment : recipe.segments) {
      EXPECT_EQ(segment.first_layer, recipe.segments[0].first_layer);
      EXPECT_EQ(segment.end_layer, recipe.segments[0].end_layer);
    }
}

}  // namespace
}  // namespace penstock
