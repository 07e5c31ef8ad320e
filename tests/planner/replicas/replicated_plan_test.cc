// The plan of a division with replicas: what its stages and edges are made of.

#include <gtest/gtest.h>

#include "core/replicas.h"
#include "planner/replicated_search.h"
#include "tests/planner/replicas/replicated_plans.h"

namespace penstock {
namespace {

TEST(ReplicatedPlan, IsValidAndOfTheLargestPart) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    const auto valid = validate(plan);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().text();
    for (const PlanStage& stage : plan.stages) {
      StageTimes sum;
      for (const LayerId layer : stage.layers)
        sum += (*layer_times_at(plan, largest_part(plan, stage)))[layer.index()];
      EXPECT_EQ(stage.times, sum);
      EXPECT_EQ(stage.reduce_bandwidth.value > 0, stage.replicas > 1);
    }
  }
}

TEST(ReplicatedPlan, CostsAreOfThePartThatOneOfSoManyReplicasTakes) {
  ReplicaCosts costs;
  costs.microbatch = 5;
  costs.parts[5].microbatch = 5;
  costs.parts[3].microbatch = 3;
  EXPECT_EQ(costs.of(1, Split::Batch)->microbatch, 5);
  EXPECT_EQ(costs.of(2, Split::Batch)->microbatch, 3);
  EXPECT_EQ(costs.of(3, Split::Batch), nullptr);
  EXPECT_EQ(costs.of(3, Split::RoundRobin)->microbatch, 5);
}

}  // namespace
}  // namespace penstock
