#include "core/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::layer_ids;
using test::sample_plan;

TEST(CrossingEdges, AreTheTensorsThatOneStageReadsOfAnother) {
  const Network network = test::sample_workload().networks[0];
  const auto edges = crossing_edges(network, {layer_ids({0, 1, 2, 3}), layer_ids({4, 5, 6, 7})}, 2);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].from, StageId(0));
  EXPECT_EQ(edges[0].to, StageId(1));
  EXPECT_EQ(edges[0].tensors, layer_ids({0, 3}));  // the residual connection crosses too
  EXPECT_EQ(edges[0].bytes, Bytes(2 * 192));       // 4·6·4·2 = 192 bytes each, a multiple of 64
  EXPECT_EQ(edges[0].activation, Nanoseconds(0));
}

TEST(CrossingEdges, AlignEachTensorAndSendItOnceToEachStageThatReadsIt) {
  const Network network = test::sample_workload().networks[0];
  const auto edges =
      crossing_edges(network, {layer_ids({0}), layer_ids({1, 2}), layer_ids({3, 4, 5, 6, 7})}, 1);
  ASSERT_EQ(edges.size(),
            3u);  // 0 -> 1 for the norm, 0 -> 2 for the residual, 1 -> 2 for attention
  EXPECT_EQ(edges[0].to, StageId(1));
  EXPECT_EQ(edges[0].bytes, Bytes(128));  // 4·6·4 = 96
  EXPECT_EQ(edges[1].from, StageId(0));
  EXPECT_EQ(edges[1].to, StageId(2));
  EXPECT_EQ(edges[2].tensors, layer_ids({2}));
  EXPECT_EQ(edges[2].bytes, Bytes(320));  // 4·18·4 = 288
}

TEST(CrossingEdges, OfOneStageAreNone) {
  EXPECT_TRUE(
      crossing_edges(test::sample_workload().networks[0], {layer_ids({0, 1, 2, 3, 4, 5, 6, 7})}, 2)
          .empty());
}

struct Fault {
  const char* name;
  std::function<void(Plan&)> make;
  const char* pointer;
  const char* message;  // part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

const Fault kFaults[] = {
    {"BadWorkload", [](Plan& p) { p.workload.optimizer.momentum = 2; },
     "/workload/optimizer/momentum", "momentum"},
    {"BadCluster", [](Plan& p) { p.cluster.links[0].bandwidth = BytesPerSecond(0); },
     "/cluster/links/0/bandwidth", "0 B/s"},
    {"MicrobatchesThatDoNotDivide", [](Plan& p) { p.microbatch_size = 3; }, "/microbatches",
     "global batch of 8"},
    {"TooFewMicrobatches", [](Plan& p) { p.microbatches = 3; }, "/microbatches",
     "3 microbatches of 2"},
    {"MicrobatchOfZero", [](Plan& p) { p.microbatch_size = 0; }, "/microbatches", "of 0 samples"},
    {"NoRanks", [](Plan& p) { p.devices.clear(); }, "/devices", "no ranks"},
    {"RanksOutOfOrder", [](Plan& p) { std::swap(p.devices[0], p.devices[1]); }, "/devices/0/rank",
     "rank 1"},
    {"RankOnNoDevice", [](Plan& p) { p.devices[1].device = DeviceId(3); }, "/devices/1/device",
     "device 3, of 3"},
    {"NoStages", [](Plan& p) { p.stages.clear(); }, "/stages", "no stages"},
    {"StageOfNoNetwork", [](Plan& p) { p.stages[1].network = NetworkId(1); }, "/stages/1/network",
     "network 1, of 1"},
    {"StageWithoutLayers", [](Plan& p) { p.stages[1].layers.clear(); }, "/stages/1/layers",
     "no layers"},
    {"LayerThatDoesNotExist", [](Plan& p) { p.stages[1].layers[3] = LayerId(8); },
     "/stages/1/layers/3", "layer 8, which network 'tiny' does not have"},
    {"LayersNotAscending",
     [](Plan& p) {
       p.stages[1].layers = layer_ids({4, 6, 5, 7});
     },
     "/stages/1/layers/2", "layer 5"},
    {"LayerTwiceInAStage",
     [](Plan& p) {
       p.stages[1].layers = layer_ids({4, 5, 5, 6, 7});
     },
     "/stages/1/layers/2", "layer 5"},
    {"LayerOnTwoStages",
     [](Plan& p) {
       p.stages[1].layers = layer_ids({3, 4, 5, 6, 7});
     },
     "/stages/1/layers/0", "layer 3 ('attention') is on stages 0 and 1"},
    {"LayerOnNoStage",
     [](Plan& p) {
       p.stages[1].layers = layer_ids({4, 5, 7});
     },
     "/stages", "layer 6 ('head') of network 'tiny' is on no stage"},
    {"StagesOutOfOrder",
     [](Plan& p) {
       std::swap(p.stages[0].layers, p.stages[1].layers);
       p.stages[0].recompute.clear();
     },
     "/stages/1", "begins before"},
    {"RecomputeOfAStranger", [](Plan& p) { p.stages[0].recompute = layer_ids({4}); },
     "/stages/0/recompute/0", "does not hold"},
    {"RecomputeOfALoss", [](Plan& p) { p.stages[1].recompute = layer_ids({7}); },
     "/stages/1/recompute/0", "a loss"},
    {"StageOnNoRank", [](Plan& p) { p.stages[0].devices = {RankId(2)}; }, "/stages/0/devices/0",
     "rank 2, of 2"},
    {"RanksOtherThanReplicas", [](Plan& p) { p.stages[0].replicas = 2; }, "/stages/0/devices",
     "2 replicas of 1"},
    {"NoReplicas", [](Plan& p) { p.stages[0].replicas = 0; }, "/stages/0/replicas", "0 replicas"},
    {"TwoStagesOfOneChunk", [](Plan& p) { p.stages[1].devices = {RankId(0)}; },
     "/stages/1/chunk", "stage 1 is chunk 0, and rank 0 holds 1 stages before it"},
    {"ChunkThatIsNotTheNext", [](Plan& p) { p.stages[1].chunk = 1; }, "/stages/1/chunk",
     "stage 1 is chunk 1, and rank 1 holds 0 stages before it"},
    {"RankTwiceInAStage",
     [](Plan& p) {
       p.stages[1].devices = {RankId(1), RankId(1)};
       p.stages[1].replicas = 2;
     },
     "/stages/1/devices/1", "stage 1 is on rank 1 twice"},
    {"MachineOfNoProfile",
     [](Plan& p) {
       p.costs = "derived";
       p.profile_machine = "some machine";
     },
     "/profile_machine", "of a profile of some machine"},
    {"PartTimesTwice",
     [](Plan& p) { p.part_times.assign(2, {1, std::vector<StageTimes>(8)}); },
     "/part_times/1/samples", "times of 1 samples stand after those of 1"},
    {"PartOfAWholeMicrobatch",
     [](Plan& p) { p.part_times.assign(1, {2, std::vector<StageTimes>(8)}); },
     "/part_times/0/samples", "times of 2 samples stand after those of 2"},
    {"PartTimesOfTooFewLayers",
     [](Plan& p) { p.part_times.assign(1, {1, std::vector<StageTimes>(7)}); },
     "/part_times/0/layers", "times of 7 layers, and network 'tiny' has 8"},
    {"NegativeTime", [](Plan& p) { p.stages[0].times.forward = Nanoseconds(-1); },
     "/stages/0/times", "-1 ns"},
    {"TimeBeyondReason", [](Plan& p) { p.stages[0].times.step = kForever; }, "/stages/0/times",
     "26 days"},
    {"NegativeSize", [](Plan& p) { p.stages[0].memory.stash = Bytes(-1); }, "/stages/0/memory",
     "-1 bytes"},
    {"MissingEdge", [](Plan& p) { p.edges.clear(); }, "/edges",
     "0 -> 1, tensors [0, 3], 384 bytes"},
    {"EdgeWithoutOneTensor", [](Plan& p) { p.edges[0].tensors = layer_ids({3}); }, "/edges/0",
     "expected 0 -> 1"},
    {"EdgeOfOtherSize", [](Plan& p) { p.edges[0].bytes = Bytes(383); }, "/edges/0", "383 bytes"},
    {"EdgeTooMany", [](Plan& p) { p.edges.push_back(p.edges[0]); }, "/edges/1", "nothing crosses"},
    {"NoSchedule", [](Plan& p) { p.schedule.name = ""; }, "/schedule", "no schedule"},
    {"CostsFromNowhere", [](Plan& p) { p.costs = "guessed"; }, "/costs", "guessed"},
    {"TimeNotANumber", [](Plan& p) { p.iteration_time_s = NAN; }, "/iteration_time_s", "nan"},
};

class PlanFault : public testing::TestWithParam<Fault> {};

TEST_P(PlanFault, IsRefusedWithPlaceAndHint) {
  Plan plan = sample_plan();
  GetParam().make(plan);
  const auto result = validate(plan);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  const std::string text = result.error().text();
  EXPECT_NE(text.find(GetParam().message), std::string::npos) << text;
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, PlanFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(PlanValidate, AcceptsTheSampleAndRandomPlans) {
  EXPECT_TRUE(validate(sample_plan()));
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto result = validate(test::random_plan(seed));
    EXPECT_TRUE(result) << seed << ": " << result.error().text();
  }
}

// Stage 0 holds 0, 1 and 4-7, stage 1 holds 2 and 3: each needs what the other makes later.
TEST(PlanValidate, RefusesStagesThatWaitForEachOther) {
  Plan plan = sample_plan();
  plan.stages[0].layers = layer_ids({0, 1, 4, 5, 6, 7});
  plan.stages[0].recompute.clear();
  plan.stages[1].layers = layer_ids({2, 3});
  plan.edges =
      crossing_edges(plan.workload.networks[0], {plan.stages[0].layers, plan.stages[1].layers}, 2);
  const auto result = validate(plan);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("circle"), std::string::npos);
}

TEST(PlanValidate, AcceptsReplicasAndSharedDevices) {
  Plan plan = sample_plan();
  plan.devices.push_back({RankId(2), DeviceId(1), Bytes(0), Bytes(1)});
  plan.stages[0].devices = {RankId(0), RankId(2)};
  plan.stages[0].replicas = 2;
  plan.stages[0].split = Split::RoundRobin;
  EXPECT_FALSE(validate(plan));  // what moves between them, and how fast, is missing
  plan.stages[0].reduce_bandwidth = BytesPerSecond(1e9);
  plan.layer_times.resize(plan.workload.networks[0].layers.size());
  for (const std::int32_t copy : {0, 1})
    plan.edges[0].hops.push_back(
        {copy, 0, Nanoseconds(1), Nanoseconds(1), BytesPerSecond(1e9), BytesPerSecond(1e9)});
  const auto valid = validate(plan);
  EXPECT_TRUE(valid) << valid.error().text();
}

}  // namespace
}  // namespace penstock
