#include <gtest/gtest.h>

#include "models/clusters/clusters.h"
#include "models/costs/cost_table.h"
#include "models/workloads/builders.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

// 1 FLOP a nanosecond, and so many bytes a nanosecond.
Device device(double bytes_per_ns) {
  return {"d",
          HostId(0),
          "cpu",
          Bytes(1 << 30),
          FlopsPerSecond(1e9),
          BytesPerSecond(bytes_per_ns * 1e9)};
}

Workload small() {
  NetworkBuilder net("small", 10);
  const LayerId x = net.embedding("embedding", 256, 6, 1);
  net.cross_entropy("loss", net.linear("head", x, 256, 1));
  return net.take();
}

TEST(DerivedCosts, AreFlopsOverPeakWhereMemoryIsFast) {
  const auto costs = derived_costs(small(), device(1e6), 2);
  ASSERT_TRUE(costs) << costs.error().text();
  EXPECT_EQ(costs->source, "derived");
  EXPECT_EQ(costs->microbatch, 2);
  EXPECT_FALSE(costs->link_profiled);
  ASSERT_EQ(costs->layers.size(), 3u);
  const LayerCost& head = costs->layers[1];  // 20 rows, 6 -> 256
  EXPECT_EQ(head.forward, Nanoseconds(20 * 256 * 13));
  EXPECT_EQ(head.backward_input, Nanoseconds(2 * 20 * 6 * 256));
  EXPECT_EQ(head.backward_weight, Nanoseconds(2 * 20 * 6 * 256 + 20 * 256));
  EXPECT_EQ(head.step, Nanoseconds(4 * 7 * 256));
  EXPECT_EQ(head.load, Nanoseconds(0));
}

TEST(DerivedCosts, AreBytesOverBandwidthWhereMemoryIsSlow) {
  const auto costs = derived_costs(small(), device(0.001), 2);
  const LayerCost& head = costs->layers[1];
  EXPECT_EQ(head.forward, Nanoseconds(1000 * 4 * (20 * 6 + 20 * 256 + 7 * 256)));
  EXPECT_EQ(head.step, Nanoseconds(1000 * 24 * 7 * 256));
  EXPECT_EQ(costs->layers[0].load,
            Nanoseconds(1000 * 2 * 20));  // tokens: 2 samples of 10 bytes, read and written
  EXPECT_EQ(costs->layers[0].backward_input, Nanoseconds(0));
}

TEST(DerivedCosts, TheForwardOfALossStandsInLoss) {
  const auto costs = derived_costs(small(), device(1e6), 2);
  EXPECT_EQ(costs->layers[2].forward, Nanoseconds(0));
  EXPECT_EQ(costs->layers[2].loss, Nanoseconds(5 * 20 * 256 + 2 * 20));
  EXPECT_EQ(costs->layers[2].backward_input, Nanoseconds(20 * 256 + 20));
  EXPECT_EQ(costs->layers[0].loss, Nanoseconds(0));
}

TEST(DerivedCosts, CpusHaveFixedFiguresOnEveryMachine) {
  const Workload workload = *build_workload("gpt");
  const auto a = derived_costs(workload, this_machine(1).devices[0], 4);
  const auto b = derived_costs(workload, this_machine(2).devices[1], 4);
  EXPECT_EQ(a->layers, b->layers);
  // qkv of the first block: 512 rows, 256 -> 768 at 100 GFLOP/s.
  EXPECT_EQ(a->layers[2].forward, nanoseconds(512.0 * 768 * 513 / 100e9));
}

TEST(DerivedCosts, RefuseWhatTheyCannotKnow) {
  Workload workload = small();
  EXPECT_EQ(derived_costs(workload, device(1), 0).error().code, ErrorCode::Usage);
  workload.networks[0].layers[1].kind = LayerKind::Opaque;
  const auto opaque = derived_costs(workload, device(1), 1);
  ASSERT_FALSE(opaque);
  EXPECT_EQ(opaque.error().code, ErrorCode::Infeasible);
  EXPECT_NE(opaque.error().message.find("\"head\""), std::string::npos);
  EXPECT_NE(opaque.error().hint.find("--profile"), std::string::npos);
  workload = small();
  workload.networks.push_back(workload.networks[0]);
  EXPECT_EQ(derived_costs(workload, device(1), 1).error().code, ErrorCode::Infeasible);
}

}  // namespace
}  // namespace penstock
