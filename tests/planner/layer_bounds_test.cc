#include <gtest/gtest.h>

#include "planner/bounds/bounds.h"
#include "planner/bounds/chains.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

StageTimes times_of(std::int64_t forward, std::int64_t backward, std::int64_t step) {
  StageTimes times;
  times.forward = Nanoseconds(forward);
  times.backward_weight = Nanoseconds(backward);
  times.step = Nanoseconds(step);
  return times;
}

// Four layers: 0 -> 1 -> 3 and 0 -> 2 -> 3.
Network diamond() {
  Network network;
  network.layers.resize(4);
  network.layers[1].inputs = {LayerId(0)};
  network.layers[2].inputs = {LayerId(0)};
  network.layers[3].inputs = {LayerId(1), LayerId(2)};
  return network;
}

TEST(LayerBounds, FollowTheirFormulas) {
  const Network network = diamond();
  const std::vector<StageTimes> layers = {times_of(1, 2, 7), times_of(10, 1, 1), times_of(3, 30, 1),
                                          times_of(4, 5, 1)};
  const BoundProblem problem{&network, &layers, 2, 10};
  EXPECT_DOUBLE_EQ(work_bound(problem).seconds, (10 * (3 + 11 + 33 + 9) + 10) * 1e-9 / 2);
  EXPECT_DOUBLE_EQ(longest_layer_bound(problem).seconds, (10 * 33 + 1) * 1e-9);
  // Layer 2: behind F of layer 0, before BF of layer 0 and its update.
  EXPECT_DOUBLE_EQ(fill_and_drain_bound(problem).seconds, (1 + 10 * 33 + 2 + 7) * 1e-9);
}

TEST(LayerBounds, ChainsAreTheLongestAndLeaveOutWhatDoesNotDependOnTheFirst) {
  Network network = diamond();
  network.layers.emplace_back();  // depends on nothing
  const std::vector<StageTimes> layers = {times_of(1, 2, 0), times_of(10, 1, 0), times_of(3, 30, 0),
                                          times_of(4, 5, 0), times_of(9, 9, 0)};
  const Chains chains = chains_from_first({&network, &layers, 2, 10});
  EXPECT_EQ(chains.forward, (std::vector<std::int64_t>{1, 11, 4, 15, -1}));
  EXPECT_EQ(chains.backward, (std::vector<std::int64_t>{2, 3, 32, 37, -1}));
}

TEST(LayerBounds, OnOneRankWorkIsWhatATrainingStepTakes) {
  const Network network = diamond();
  const std::vector<StageTimes> layers(4, times_of(5, 10, 3));
  EXPECT_DOUBLE_EQ(work_bound({&network, &layers, 1, 8}).seconds, (8 * 60 + 12) * 1e-9);
}

}  // namespace
}  // namespace penstock
