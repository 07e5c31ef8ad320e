#include <gtest/gtest.h>

#include <set>

#include "models/workloads/builders.h"
#include "profiler/profiler.h"

namespace penstock {
namespace {

ProfileRequest quick() {
  ProfileRequest request;
  request.budget_s = 0.05;
  return request;
}

TEST(ProfileLayers, EveryLayerHasEveryPartThatATrainingStepRuns) {
  const Workload workload = *build_workload("gpt:layers=2,hidden=32,heads=2,sequence=16,batch=4");
  Profile profile;
  ASSERT_TRUE(profile_layers(workload, 2, quick(), profile));
  const Network& network = workload.networks[0];
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const Layer& layer = network.layers[l];
    const std::string key = signature(workload, network, LayerId(static_cast<std::int64_t>(l)));
    const CostOp forward = layer.is_loss() ? CostOp::Loss : CostOp::F;
    ASSERT_NE(profile.find(key, forward, 2), nullptr) << key;
    EXPECT_GE(profile.find(key, forward, 2)->time.n, 10) << key;
    ASSERT_NE(profile.find(key, CostOp::BF, 2), nullptr) << key;
    ASSERT_NE(profile.find(key, CostOp::B, 2), nullptr) << key;
    ASSERT_NE(profile.find(key, CostOp::W, 2), nullptr) << key;
    EXPECT_EQ(profile.find(key, CostOp::Step, 0) != nullptr, !layer.parameters.empty()) << key;
    ASSERT_NE(profile.find_memory(key, 2), nullptr) << key;
    EXPECT_EQ(profile.find_memory(key, 2)->output, layer.output.bytes() * 2) << key;
  }
}

// Sums of squares and scaled gradients move more memory than the update alone: SGD's reads and writes two numbers a weight.
TEST(ProfileLayers, AStepThatClipsHoldsItsSquares) {
  Workload workload = *build_workload("mlp:layers=2,width=512,batch=4");
  const auto step = [&] {
    Profile profile;
    EXPECT_TRUE(profile_layers(workload, 1, quick(), profile));
    Nanoseconds sum;
    for (const LayerTime& row : profile.times)
      if (row.op == CostOp::Step) sum += row.time.min;
    return sum;
  };
  const Nanoseconds plain = step();
  workload.optimizer.clip = 1;
  EXPECT_GT(step().value, plain.value + plain.value / 20);
}

TEST(ProfileLayers, EqualLayersShareOneRow) {
  const Workload workload = *build_workload("gpt:layers=3,hidden=32,heads=2,sequence=16,batch=4");
  Profile profile;
  ASSERT_TRUE(profile_layers(workload, 1, quick(), profile));
  std::set<std::pair<std::string, CostOp>> rows;
  for (const LayerTime& row : profile.times) EXPECT_TRUE(rows.emplace(row.signature, row.op).second) << row.signature;
}

TEST(ProfileLayers, MoreWorkTakesMoreTime) {
  // Eight times the samples through the same linear layers: at least three times as long on any machine.
  const Workload workload = *build_workload("mlp:layers=3,width=128,batch=8");
  Profile profile;
  ASSERT_TRUE(profile_layers(workload, 1, quick(), profile));
  ASSERT_TRUE(profile_layers(workload, 8, quick(), profile));
  Nanoseconds small, large;
  for (const LayerTime& row : profile.times) {
    if (row.op == CostOp::F) (row.microbatch == 1 ? small : large) += row.time.min;
  }
  EXPECT_GT(large.value, 3 * small.value);
}

TEST(ProfileLayers, AStopIsObeyed) {
  const Workload workload = *build_workload("mlp:layers=3,width=64,batch=8");
  std::stop_source source;
  source.request_stop();
  ProfileRequest request = quick();
  request.stop = source.get_token();
  Profile profile;
  const auto result = profile_layers(workload, 1, request, profile);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Interrupted);
}

}  // namespace
}  // namespace penstock
