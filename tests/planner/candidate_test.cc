#include "planner/candidate.h"

#include <gtest/gtest.h>

#include "planner/lower.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

TEST(Candidate, HopsTakeWhatTransfersTake) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Draws draws(seed);
    const Workload workload = test::random_workload(draws, 3, 4);
    CostTable costs = test::random_costs(draws, workload, 1, 100);
    const Cluster cluster = test::random_cluster(draws, 3, Bytes(1 << 30), true);
    if (draws.chance(0.5)) {
      costs.link_profiled = true;
      costs.link = cluster.links[0].name;
      costs.link_latency = Nanoseconds(77);
      costs.link_bandwidth = BytesPerSecond(3e9);
    }
    for (std::int64_t a = 0; a < 3; ++a) {
      for (std::int64_t b = 0; b < 3; ++b) {
        if (a == b) continue;
        const Bytes bytes(draws.between(1, 1'000'000));
        EXPECT_EQ(costs.hop(cluster, DeviceId(a), DeviceId(b))->time(bytes),
                  *costs.transfer(cluster, DeviceId(a), DeviceId(b), bytes));
      }
    }
  }
}

TEST(Candidate, CostsOfADivisionAreThoseOfItsPlan) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::Draws draws(seed);
    const Workload workload = test::random_workload(draws, 8, 6);
    const CostTable costs = test::random_costs(draws, workload, 2, 1000);
    const Cluster cluster = test::random_cluster(draws, 3, Bytes(1 << 30), true);
    const Setting setting =
        *make_setting(workload, cluster, costs, *find_schedule("1f1b"), 3, Bytes(0));
    EXPECT_EQ(setting.microbatches, 3);
    const auto n = static_cast<std::int32_t>(workload.networks[0].layers.size());
    const std::vector<std::int32_t> ends = {static_cast<std::int32_t>(draws.between(1, 4)), 6, n};
    const DividedCosts divided = *divided_costs(setting, ends);
    const Plan plan = *plan_of(setting, ends);
    const Order order = *order_of(plan);
    const OrderCosts of_plan = order_costs(plan, order);
    EXPECT_EQ(order.edges, divided.stage_edges);
    EXPECT_EQ(of_plan.forward, divided.costs.forward);
    EXPECT_EQ(of_plan.backward_input, divided.costs.backward_input);
    EXPECT_EQ(of_plan.backward_weight, divided.costs.backward_weight);
    EXPECT_EQ(of_plan.step, divided.costs.step);
    EXPECT_EQ(of_plan.activation, divided.costs.activation);
    EXPECT_EQ(of_plan.gradient, divided.costs.gradient);
    StageTimes sum;
    for (const StageTimes& times : plan.layer_times) sum.forward += times.forward;
    EXPECT_EQ(sum.forward, plan.stages[0].times.forward + plan.stages[1].times.forward +
                               plan.stages[2].times.forward);
  }
}

TEST(Candidate, ALimitNeverExceedsTheDevice) {
  test::Draws draws(1);
  const Workload workload = test::random_workload(draws, 3, 4);
  const CostTable costs = test::random_costs(draws, workload, 1, 100);
  const Cluster cluster = test::random_cluster(draws, 2, Bytes(1000), false);
  const auto limit_for = [&](std::int64_t asked) {
    return make_setting(workload, cluster, costs, *find_schedule("gpipe"), 2, Bytes(asked))
        ->problem.limits[1]
        .value;
  };
  EXPECT_EQ(limit_for(0), 1000);
  EXPECT_EQ(limit_for(400), 400);
  EXPECT_EQ(limit_for(4000), 1000);
}

TEST(Candidate, WithoutALinkThereIsNoSetting) {
  test::Draws draws(1);
  const Workload workload = test::random_workload(draws, 3, 4);
  const CostTable costs = test::random_costs(draws, workload, 1, 100);
  Cluster cluster = test::random_cluster(draws, 2, Bytes(1000), false);
  cluster.links.clear();
  const auto setting = make_setting(workload, cluster, costs, *find_schedule("gpipe"), 2, Bytes(0));
  ASSERT_FALSE(setting.has_value());
  EXPECT_EQ(setting.error().message, "no link leads from device0 to device1");
}

}  // namespace
}  // namespace penstock
