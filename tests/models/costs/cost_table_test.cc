#include "models/costs/cost_table.h"

#include <gtest/gtest.h>

#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"

namespace penstock {
namespace {

CostTable profiled_link() {
  CostTable costs;
  costs.link_profiled = true;
  costs.link = kThreadLink;
  costs.link_latency = Nanoseconds(1000);
  costs.link_bandwidth = BytesPerSecond(2e9);
  return costs;
}

TEST(Transfer, IsTheClustersRouteWhereNothingWasProfiled) {
  const Cluster cluster =
      *load_cluster("nodes:2x2,device=v100,intra=100GB/s,inter=10GB/s,inter-latency=5us");
  const CostTable costs;
  EXPECT_EQ(*costs.transfer(cluster, DeviceId(0), DeviceId(1), Bytes(100'000)), Nanoseconds(1'000));
  EXPECT_EQ(*costs.transfer(cluster, DeviceId(1), DeviceId(2), Bytes(100'000)),
            Nanoseconds(15'000));
  EXPECT_EQ(*costs.transfer(cluster, DeviceId(2), DeviceId(2), Bytes(100'000)), Nanoseconds(0));
}

TEST(Transfer, IsTheProfiledHandOffBetweenRanksOfThisMachine) {
  const Cluster cluster = this_machine(3);
  EXPECT_EQ(*profiled_link().transfer(cluster, DeviceId(0), DeviceId(2), Bytes(4000)),
            Nanoseconds(3000));
  EXPECT_EQ(*CostTable().transfer(cluster, DeviceId(0), DeviceId(2), Bytes(8000)),
            Nanoseconds(4000));
  EXPECT_EQ(*profiled_link().transfer(cluster, DeviceId(1), DeviceId(1), Bytes(4000)),
            Nanoseconds(0));
}

TEST(Transfer, AProfileDoesNotOverruleALinkThatTheUserDescribed) {
  const Cluster cluster = *load_cluster("flat:2,device=cpu,bandwidth=1GB/s,latency=1us");
  EXPECT_EQ(*profiled_link().transfer(cluster, DeviceId(0), DeviceId(1), Bytes(4000)),
            Nanoseconds(5000));
}

TEST(Transfer, WithoutARouteIsInfeasible) {
  Cluster cluster = this_machine(2);
  cluster.links.clear();
  const auto time = CostTable().transfer(cluster, DeviceId(0), DeviceId(1), Bytes(1));
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().code, ErrorCode::Infeasible);
}

TEST(StageTimesOfCosts, AreTheSumsOverTheLayers) {
  CostTable costs;
  for (std::int64_t i = 1; i <= 3; ++i) {
    costs.layers.push_back({Nanoseconds(i), Nanoseconds(10 * i), Nanoseconds(100 * i),
                            Nanoseconds(1000 * i), Nanoseconds(10'000 * i),
                            Nanoseconds(100'000 * i), Bytes(0)});
  }
  const StageTimes times = stage_times(costs, {LayerId(0), LayerId(2)});
  EXPECT_EQ(times, (StageTimes{Nanoseconds(4), Nanoseconds(40), Nanoseconds(400), Nanoseconds(4000),
                               Nanoseconds(40'000), Nanoseconds(0), Nanoseconds(400'000)}));
  EXPECT_EQ(stage_times(costs, {}), StageTimes());
}

TEST(StageMemoryOfCosts, AddsTheLargestScratchBehindTheWorkspace) {
  CostTable costs;
  for (const std::int64_t scratch : {10, 500, 100})
    costs.layers.push_back({{}, {}, {}, {}, {}, {}, Bytes(scratch)});
  StageLayout layout;
  layout.parameters = Bytes(1024);
  layout.stash = Bytes(640);
  layout.data_bytes = Bytes(128);
  layout.workspace = Bytes(64 + 1);
  for (const std::int64_t layer : {0, 2}) {
    LayerPlacement placed;
    placed.layer = LayerId(layer);
    layout.layers.push_back(placed);
  }
  Workload workload;
  const StageMemory memory = stage_memory(costs, layout, workload);
  EXPECT_EQ(memory, (StageMemory{Bytes(1024), Bytes(1024), Bytes(1024), Bytes(640), Bytes(128),
                                 Bytes(128 + 128)}));
  workload.optimizer.momentum = 0;
  EXPECT_EQ(stage_memory(costs, layout, workload).optimizer, Bytes(0));
}

}  // namespace
}  // namespace penstock
