#include "planner/stage_buckets.h"

#include <gtest/gtest.h>

#include "core/replicas.h"
#include "tests/planner/replicas/replicated_plans.h"

namespace penstock {
namespace {

TEST(StageBuckets, MakeUpTheGradientsAndPartsTheBackward) {
  std::int64_t several = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const PlanStage& stage = plan.stages[s];
      if (stage.replicas == 1) continue;
      const StageBuckets buckets = stage_buckets(plan, StageId(static_cast<std::int64_t>(s)));
      several += buckets.parts.size() > 1;
      // Parts go down from the last layer to the first, and take what the whole takes.
      auto low = static_cast<std::int32_t>(stage.layers.size());
      Nanoseconds time;
      for (const StageBuckets::Part& part : buckets.parts) {
        EXPECT_EQ(part.end_layer, low);
        EXPECT_LT(part.first_layer, part.end_layer);
        low = part.first_layer;
        time += part.time;
      }
      EXPECT_EQ(low, 0);
      EXPECT_EQ(time, stage.times.backward());
      // Buckets go down from the last parameter, each behind the part that completes it.
      Bytes end = stage.memory.gradients;
      for (std::size_t k = 0; k < buckets.groups.size(); ++k) {
        const Group& group = buckets.groups[k];
        EXPECT_EQ(group.offset + group.bytes, end);
        EXPECT_EQ(group.ranks, stage.devices);
        end = group.offset;
        const StageBuckets::Part& part =
            buckets.parts[static_cast<std::size_t>(buckets.after_part[k])];
        EXPECT_LE(part.first_layer, group.first_layer);
        EXPECT_LT(group.first_layer, part.end_layer);
      }
      EXPECT_EQ(end.value, 0);
    }
  }
  EXPECT_GT(several, 50);
}

}  // namespace
}  // namespace penstock
