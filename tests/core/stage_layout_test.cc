#include "core/stage_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "tests/core/symbolic_run.h"

namespace penstock::test {
namespace {

// x --LN--> n --Linear--> y --Add(x, y)--> z, between an embedding and a loss.
NetworkBuilder residual() {
  NetworkBuilder b;
  b.add(LayerKind::Embedding, {});
  b.add(LayerKind::LayerNorm, {0});
  b.add(LayerKind::Linear, {1});
  b.add(LayerKind::Add, {0, 2});
  b.add(LayerKind::CrossEntropy, {3});
  return b;
}

TEST(StageLayout, TheExampleOfTheHeaderHolds) {
  const NetworkBuilder b = residual();
  const Stages stages = cut(b.workload_, {1, 4});
  const std::vector<PlanEdge> edges = crossing_edges(b.workload_.networks[0], stages, kMicrobatch);
  const StageLayout layout =
      lay_out_stage(b.workload_, NetworkId(0), stages, edges, StageId(1), kMicrobatch);
  const Bytes tensor(kMicrobatch * 4 * 8 * 4);
  ASSERT_EQ(layout.layers.size(), 3u);
  EXPECT_EQ(layout.in_edges, std::vector<std::int32_t>{0});
  EXPECT_EQ(layout.out_edges, std::vector<std::int32_t>{1});
  EXPECT_EQ(layout.layers[0].inputs, std::vector<Home>(1, {Region::Stash, -1, Bytes(0)}));
  EXPECT_EQ(layout.layers[0].output, (Home{Region::Stash, -1, tensor}));
  EXPECT_EQ(layout.layers[1].output.region, Region::Workspace);
  EXPECT_EQ(layout.layers[2].output, (Home{Region::Send, 0, Bytes(0)}));
  EXPECT_TRUE(layout.forward_copies.empty());
  EXPECT_TRUE(layout.gradient_sums.empty());

  const LayerPlacement &norm = layout.layers[0], &linear = layout.layers[1],
                       &add = layout.layers[2];
  EXPECT_EQ(add.output_gradient, (Home{Region::Receive, 0, Bytes(0)}));
  EXPECT_EQ(add.input_gradients[0], (Home{Region::Send, 0, Bytes(0)}));
  EXPECT_EQ(add.input_gradients[1].region, Region::Workspace);
  EXPECT_EQ(add.adds_to_input, std::vector({false, false}));
  EXPECT_EQ(linear.output_gradient, add.input_gradients[1]);
  EXPECT_EQ(norm.input_gradients, std::vector<Home>(1, {Region::Send, 0, Bytes(0)}));
  EXPECT_EQ(norm.adds_to_input, std::vector({true}));
  EXPECT_EQ(layout.stash,
            tensor * 2 + Bytes(64));        // x, n, and LayerNorm's 2 floats for each of 8 rows
  EXPECT_EQ(layout.workspace, tensor * 2);  // dy and dn, while Linear's backward runs
  EXPECT_EQ(layout.parameters, Bytes(8 * 8 * 4 + 64));
}

TEST(StageLayout, ATensorThatTwoEdgesTakeIsCopiedAndItsGradientsAreSummed) {
  NetworkBuilder b = residual();
  const Stages stages =
      cut(b.workload_, {1, 3});  // the embedding is read by stages 1 (LN) and 2 (Add)
  SymbolicRun run(b.workload_, stages);
  const std::vector<std::string> gradients = run.run();
  const StageLayout& first = run.layouts()[0];
  EXPECT_EQ(first.layers[0].output.region, Region::Workspace);
  EXPECT_EQ(first.forward_copies.size(), 2u);
  ASSERT_EQ(first.gradient_sums.size(), 1u);
  EXPECT_EQ(first.layers[0].output_gradient,
            (Home{Region::Receive, 1, Bytes(0)}));  // from the farthest stage
  EXPECT_EQ(first.gradient_sums[0].from, (Home{Region::Receive, 0, Bytes(0)}));
  EXPECT_EQ(gradients[0], "(d3.0+d1.0)");
}

TEST(StageLayout, AnEdgeMaySkipAStage) {
  NetworkBuilder b = residual();
  const Stages stages = cut(b.workload_, {1, 2, 3});
  const std::vector<PlanEdge> edges = crossing_edges(b.workload_.networks[0], stages, kMicrobatch);
  ASSERT_EQ(edges.size(), 4u);  // 0>1, 0>3, 1>2, 2>3
  EXPECT_EQ(SymbolicRun(b.workload_, stages).run()[0], "(d3.0+d1.0)");
}

TEST(StageLayout, OneLayerMayReadATensorTwice) {
  NetworkBuilder b;
  b.add(LayerKind::Embedding, {});
  b.add(LayerKind::Add, {0, 0});
  b.add(LayerKind::MeanSquared, {1});
  for (const std::vector<std::size_t>& cuts :
       std::vector<std::vector<std::size_t>>{{}, {1}, {2}, {1, 2}})
    EXPECT_EQ(SymbolicRun(b.workload_, cut(b.workload_, cuts)).run()[0], "(d1.0+d1.1)");
}

TEST(StageLayout, WhatNobodyReadsHasNoGradient) {
  NetworkBuilder b;
  b.add(LayerKind::Embedding, {});
  b.add(LayerKind::Gelu, {0});    // read by the dead one alone
  b.add(LayerKind::Linear, {1});  // dead
  b.add(LayerKind::Linear, {0});
  b.add(LayerKind::CrossEntropy, {3});
  for (const std::vector<std::size_t>& cuts :
       std::vector<std::vector<std::size_t>>{{}, {1}, {2}, {1, 2, 3}}) {
    const Stages stages = cut(b.workload_, cuts);
    SymbolicRun run(b.workload_, stages);
    const std::vector<std::string> gradients = run.run();
    EXPECT_EQ(gradients, (std::vector<std::string>{"d3.0", "", "", "d4.0", "1"}));
  }
  const StageLayout whole = lay_out_all(b.workload_, cut(b.workload_, {}), {})[0];
  EXPECT_EQ(whole.layers[1].output_gradient.region, Region::None);
  EXPECT_EQ(whole.layers[2].output_gradient.region, Region::None);
  EXPECT_EQ(whole.layers[2].input_gradients[0].region, Region::None);
}

TEST(StageLayout, WithoutALossTheSinksStandForIt) {
  NetworkBuilder b;
  b.add(LayerKind::Opaque, {});
  b.add(LayerKind::Opaque, {0});
  const StageLayout layout = lay_out_all(b.workload_, cut(b.workload_, {}), {})[0];
  EXPECT_EQ(layout.layers[0].output_gradient.region, Region::Workspace);
  EXPECT_EQ(layout.layers[1].output_gradient.region, Region::None);
  EXPECT_EQ(layout.layers[0].output.region, Region::Stash);
}

TEST(StageLayout, SourcesEnterThroughTheDataBufferOnce) {
  NetworkBuilder b = residual();
  b.layers()[3].sources = {SourceId(0)};  // the embedding's too
  const StageLayout layout = lay_out_all(b.workload_, cut(b.workload_, {}), {})[0];
  EXPECT_EQ(layout.sources, (std::vector{SourceId(0), SourceId(1)}));
  EXPECT_EQ(layout.data, (std::vector{Bytes(0), Bytes(64)}));
  EXPECT_EQ(layout.data_bytes, Bytes(128));
}

TEST(StageLayout, ParametersStartOnBoundaries) {
  NetworkBuilder b;
  b.add(LayerKind::Linear, {}, 3);
  b.add(LayerKind::Linear, {0}, 8);
  EXPECT_EQ(parameter_offsets(b.workload_.networks[0], {LayerId(0), LayerId(1)}),
            (std::vector{Bytes(0), Bytes(128), Bytes(192), Bytes(448)}));
  EXPECT_EQ(parameter_offsets(b.workload_.networks[0], {LayerId(1)}),
            (std::vector{Bytes(0), Bytes(256)}));
}

// How many terms stage `s` adds to the gradient of `tensor`.
std::size_t terms(const Network& network, const std::vector<LayerId>& stage, LayerId tensor) {
  std::size_t count = 0;
  for (const LayerId layer : stage)
    for (const LayerId input : network.layers[layer.index()].inputs) count += input == tensor;
  return count;
}

// Whether some stage between a tensor's own and its last reader's adds two or more terms.
bool has_middle_sums(const Network& network, const Stages& stages) {
  for (std::size_t own = 0; own < stages.size(); ++own)
    for (const LayerId tensor : stages[own]) {
      std::size_t last = own;
      for (std::size_t s = own; s < stages.size(); ++s)
        if (terms(network, stages[s], tensor) > 0) last = s;
      for (std::size_t s = own + 1; s < last; ++s)
        if (terms(network, stages[s], tensor) > 1) return true;
    }
  return false;
}

// Up to `n`.
std::size_t upto(std::mt19937& random, std::size_t n) {
  return static_cast<std::size_t>(random()) % (n + 1);
}

// An embedding, 2 to 13 layers that read any before them, a loss.
NetworkBuilder random_network(std::mt19937& random) {
  NetworkBuilder b;
  b.add(LayerKind::Embedding, {});
  const std::size_t count = 2 + upto(random, 12);
  for (std::size_t i = 1; i < count; ++i) {
    constexpr std::array kinds = {LayerKind::LayerNorm, LayerKind::Linear, LayerKind::Attention,
                                  LayerKind::Gelu, LayerKind::Add};
    const LayerKind kind = kinds[upto(random, 4)];
    const auto input = [&] {
      return static_cast<std::int32_t>(upto(random, 2) == 0 ? upto(random, i - 1) : i - 1);
    };
    std::vector<std::int32_t> inputs = {input()};
    if (kind == LayerKind::Add) inputs.push_back(input());
    b.add(kind, inputs, 1 + static_cast<std::int64_t>(upto(random, 40)));
  }
  b.add(LayerKind::CrossEntropy, {static_cast<std::int32_t>(count) - 1});
  return b;
}

Stages random_cut(std::mt19937& random, const Workload& workload) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < workload.networks[0].layers.size(); ++i)
    if (upto(random, 2) == 0) cuts.push_back(i);
  return cut(workload, cuts);
}

TEST(StageLayout, EveryDivisionComputesTheSameGradientsAndLosesNothing) {
  std::mt19937 random(9);
  int compared = 0;
  for (int round = 0; round < 600; ++round) {
    const NetworkBuilder b = random_network(random);
    const Stages whole = cut(b.workload_, {}), stages = random_cut(random, b.workload_);
    const std::vector<std::string> expected = SymbolicRun(b.workload_, whole).run();
    const std::vector<std::string> found = SymbolicRun(b.workload_, stages).run();
    for (const std::string& gradient : found)
      EXPECT_EQ(gradient.find("lost"), std::string::npos) << gradient;
    if (has_middle_sums(b.workload_.networks[0], stages)) continue;
    EXPECT_EQ(found, expected);
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

// The same gradients, from values made again; and a stash that is no larger.
TEST(StageLayout, WhatIsRecomputedIsThereWhenABackwardReadsIt) {
  std::mt19937 random(11);
  std::int64_t smaller = 0;
  for (std::size_t round = 0; round < 300; ++round) {
    const NetworkBuilder b = random_network(random);
    const Stages stages = random_cut(random, b.workload_);
    std::vector<LayerId> again;  // some layers, or all
    for (std::size_t i = 0; i + 1 < b.workload_.networks[0].layers.size(); ++i)
      if (round % 3 == 0 || upto(random, 1) == 0) again.emplace_back(static_cast<std::int32_t>(i));
    SymbolicRun kept(b.workload_, stages), remade(b.workload_, stages, again);
    EXPECT_EQ(remade.run(), kept.run());
    for (std::size_t s = 0; s < stages.size(); ++s)
      smaller += remade.layouts()[s].stash < kept.layouts()[s].stash;
  }
  EXPECT_GT(smaller, 300);
}

}  // namespace
}  // namespace penstock::test
