#include "profiler/profiler.h"

#include <gtest/gtest.h>

#include "models/costs/cost_table.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"

namespace penstock {
namespace {

TEST(MakeProfile, ServesTheCostsOfItsWorkloadAtItsMicrobatchesAndNoOthers) {
  const Workload workload = *build_workload("gpt:layers=1,hidden=32,heads=2,sequence=16,batch=4");
  ProfileRequest request;
  request.microbatch_sizes = {1, 2};
  request.budget_s = 0.05;
  const auto profile = make_profile(workload, request);
  ASSERT_TRUE(profile) << profile.error().text();
  const Cluster cluster = this_machine(2);
  for (const std::int64_t microbatch : {1, 2}) {
    const auto costs = profiled_costs(workload, *profile, cluster.devices[0], microbatch);
    ASSERT_TRUE(costs) << costs.error().text();
    EXPECT_EQ(costs->layers.size(), workload.networks[0].layers.size());
  }
  EXPECT_FALSE(profiled_costs(workload, *profile, cluster.devices[0], 4));
  const Workload other = *build_workload("gpt:layers=1,hidden=64,heads=2,sequence=16,batch=4");
  EXPECT_FALSE(profiled_costs(other, *profile, cluster.devices[0], 1));
}

}  // namespace
}  // namespace penstock
