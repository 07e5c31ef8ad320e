#include <gtest/gtest.h>

#include <string>

#include "models/clusters/clusters.h"
#include "models/costs/cost_table.h"
#include "models/workloads/network_builder.h"

namespace penstock {
namespace {

Workload small() {
  NetworkBuilder net("small", 10);
  const LayerId x = net.embedding("embedding", 256, 6, 1);
  net.cross_entropy("loss", net.linear("head", net.gelu("gelu", x), 256, 1));
  return net.take();
}

Device cpu() {
  return this_machine(1).devices[0];
}

Spread exactly(std::int64_t ns) {
  const Nanoseconds t(ns);
  return {5, t - Nanoseconds(1), t, t, t + Nanoseconds(100), Nanoseconds(1)};
}

struct Row {
  std::int64_t layer;
  CostOp op;
  std::int64_t ns;
};

// The layers of small(): 0 embedding, 1 gelu, 2 head, 3 loss.
const std::vector<Row> kRows = {
    {0, CostOp::Load, 7},  {0, CostOp::F, 100},  {0, CostOp::W, 50},    {0, CostOp::BF, 55},
    {0, CostOp::Step, 20}, {1, CostOp::F, 30},   {1, CostOp::B, 40},    {1, CostOp::BF, 42},
    {2, CostOp::F, 200},   {2, CostOp::B, 210},  {2, CostOp::W, 190},   {2, CostOp::BF, 390},
    {2, CostOp::Step, 9},  {3, CostOp::Load, 8}, {3, CostOp::Loss, 60}, {3, CostOp::B, 70},
};

Profile profile_of(const Workload& workload, const std::vector<Row>& rows = kRows,
                   std::int64_t microbatch = 2) {
  Profile profile;
  profile.workload = workload.name;
  profile.workload_fingerprint = cost_fingerprint(workload);
  profile.device_kind = "cpu";
  profile.machine.cpu = "Example CPU";
  const auto name = [&](std::int64_t layer) {
    return signature(workload, workload.networks[0], LayerId(layer));
  };
  for (const Row& row : rows) {
    profile.times.push_back(
        {name(row.layer), row.op, row.op == CostOp::Step ? 0 : microbatch, exactly(row.ns)});
  }
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    profile.memory.push_back(
        {name(layer), microbatch, Bytes(0), Bytes(0), Bytes(0), Bytes(1000 * layer)});
  }
  return profile;
}

std::vector<Row> without(std::int64_t layer, CostOp op) {
  std::vector<Row> rows = kRows;
  std::erase_if(rows, [&](const Row& row) { return row.layer == layer && row.op == op; });
  return rows;
}

std::vector<Row> with(std::int64_t layer, CostOp op, std::int64_t ns) {
  std::vector<Row> rows = without(layer, op);
  rows.push_back({layer, op, ns});
  return rows;
}

TEST(ProfiledCosts, AreTheMedians) {
  const Workload workload = small();
  const auto costs = profiled_costs(workload, profile_of(workload), cpu(), 2);
  ASSERT_TRUE(costs) << costs.error().text();
  EXPECT_EQ(costs->source, "profiled");
  EXPECT_EQ(costs->machine, "Example CPU");
  EXPECT_EQ(costs->microbatch, 2);
  const auto ns = [](std::int64_t n) { return Nanoseconds(n); };
  //                                       load   forward  loss    input    weight   step   scratch
  EXPECT_EQ(costs->layers[0], (LayerCost{ns(7), ns(100), ns(0), ns(0), ns(55), ns(20), Bytes(0)}));
  EXPECT_EQ(costs->layers[1], (LayerCost{ns(0), ns(30), ns(0), ns(42), ns(0), ns(0), Bytes(1000)}));
  EXPECT_EQ(costs->layers[2],
            (LayerCost{ns(0), ns(200), ns(0), ns(210), ns(180), ns(9), Bytes(2000)}));
  EXPECT_EQ(costs->layers[3], (LayerCost{ns(8), ns(0), ns(60), ns(70), ns(0), ns(0), Bytes(3000)}));
}

TEST(ProfiledCosts, AFullBackwardIsItsPartsToTheNanosecond) {
  const Workload workload = small();
  for (const std::int64_t full : {1, 209, 210, 211, 1000}) {
    const auto costs =
        profiled_costs(workload, profile_of(workload, with(2, CostOp::BF, full)), cpu(), 2);
    ASSERT_TRUE(costs);
    EXPECT_EQ(costs->layers[2].backward_input + costs->layers[2].backward_weight,
              Nanoseconds(full));
    EXPECT_GE(costs->layers[2].backward_weight, Nanoseconds(0));
    EXPECT_LE(costs->layers[2].backward_input, Nanoseconds(210));
  }
}

TEST(ProfiledCosts, WithoutAFullBackwardThePartsStandAsMeasured) {
  const Workload workload = small();
  const auto costs =
      profiled_costs(workload, profile_of(workload, without(2, CostOp::BF)), cpu(), 2);
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->layers[2].backward_weight, Nanoseconds(190));
}

TEST(ProfiledCosts, RefuseAnotherWorkload) {
  const Workload workload = small();
  Workload other = workload;
  other.optimizer.momentum = 0;
  const auto costs = profiled_costs(other, profile_of(workload), cpu(), 2);
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code, ErrorCode::BadInput);
  EXPECT_NE(costs.error().message.find(cost_fingerprint(workload)), std::string::npos);
  other = workload;
  other.global_batch = 999;
  EXPECT_TRUE(profiled_costs(other, profile_of(workload), cpu(), 2));
}

TEST(ProfiledCosts, RefuseAnotherKindOfDevice) {
  const Workload workload = small();
  const Device gpu = load_cluster("flat:1,device=v100")->devices[0];
  const auto costs = profiled_costs(workload, profile_of(workload), gpu, 2);
  ASSERT_FALSE(costs);
  EXPECT_NE(costs.error().message.find("v100"), std::string::npos);
}

TEST(ProfiledCosts, RefuseAMicrobatchThatWasNotMeasuredAndNameThoseThatWere) {
  const Workload workload = small();
  Profile profile = profile_of(workload);
  const Profile larger = profile_of(workload, kRows, 16);
  profile.times.insert(profile.times.end(), larger.times.begin(), larger.times.end());
  const auto costs = profiled_costs(workload, profile, cpu(), 4);
  ASSERT_FALSE(costs);
  EXPECT_EQ(costs.error().code, ErrorCode::BadInput);
  EXPECT_EQ(costs.error().message, "the profile holds no microbatch of 4 samples, only 2, 16");
  EXPECT_NE(costs.error().hint.find("--microbatch 4"), std::string::npos);
}

TEST(ProfiledCosts, RefuseAProfileThatLacksSomethingAndSayWhat) {
  const Workload workload = small();
  for (const Row& row : kRows) {
    if (row.op == CostOp::BF || (row.op == CostOp::W) || (row.layer == 1 && row.op == CostOp::B))
      continue;  // told by others
    const auto costs =
        profiled_costs(workload, profile_of(workload, without(row.layer, row.op)), cpu(), 2);
    ASSERT_FALSE(costs) << row.layer << " " << static_cast<int>(row.op);
    EXPECT_NE(
        costs.error().message.find(
            "\"" + workload.networks[0].layers[static_cast<std::size_t>(row.layer)].name + "\""),
        std::string::npos)
        << costs.error().message;
  }
  std::vector<Row> rows = without(2, CostOp::BF);
  std::erase_if(rows, [](const Row& row) { return row.layer == 2 && row.op == CostOp::W; });
  EXPECT_FALSE(profiled_costs(workload, profile_of(workload, rows), cpu(), 2));
  Profile profile = profile_of(workload);
  profile.memory.pop_back();
  EXPECT_FALSE(profiled_costs(workload, profile, cpu(), 2));
}

TEST(ProfiledCosts, FitTheHandOffFromThreadTransfersAlone) {
  const Workload workload = small();
  Profile profile = profile_of(workload);
  EXPECT_FALSE(profiled_costs(workload, profile, cpu(), 2)->link_profiled);
  for (const std::int64_t bytes : {1000, 10'000, 100'000}) {
    profile.links.push_back({"thread", Bytes(bytes), exactly(2000 + bytes / 4)});
    profile.links.push_back({"tcp", Bytes(bytes), exactly(90'000 + bytes)});
  }
  const auto costs = profiled_costs(workload, profile, cpu(), 2);
  ASSERT_TRUE(costs->link_profiled);
  EXPECT_NEAR(static_cast<double>(costs->link_latency.value), 2000, 1);
  EXPECT_NEAR(costs->link_bandwidth.value, 4e9, 1e6);
}

}  // namespace
}  // namespace penstock
