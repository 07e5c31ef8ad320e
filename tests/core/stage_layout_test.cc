#include "core/stage_layout.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <random>
#include <string>

#include "core/footprint.h"

namespace penstock::test {
namespace {

constexpr std::int64_t kMicrobatch = 2;

class NetworkBuilder {
 public:
  NetworkBuilder() {
    workload_.name = "test";
    workload_.networks.emplace_back();
  }

  LayerId add(LayerKind kind, std::vector<std::int32_t> inputs, std::int64_t width = 8) {
    Layer layer;
    layer.name = fmt::format("layer{}", layers().size());
    layer.kind = kind;
    for (const std::int32_t input : inputs) layer.inputs.emplace_back(input);
    layer.output = {DataType::F32, {4, width}};
    if (kind == LayerKind::Attention) layer.attributes["heads"] = 2;
    if (layer.inputs.empty() || layer.is_loss()) {
      layer.sources.emplace_back(static_cast<std::int64_t>(workload_.sources.size()));
      workload_.sources.push_back({fmt::format("source{}", workload_.sources.size()), SourceKind::Text, {DataType::Byte, {10}}});
    }
    if (layer.is_loss()) layer.output = {DataType::F32, {}};
    if (kind == LayerKind::Linear) layer.parameters = {{"w", {8, width}}, {"b", {width}}};
    layers().push_back(layer);
    return LayerId(static_cast<std::int64_t>(layers().size()) - 1);
  }

  std::vector<Layer>& layers() { return workload_.networks[0].layers; }
  Workload workload_;
};

using Stages = std::vector<std::vector<LayerId>>;

// Cuts before the given layers.
Stages cut(const Workload& workload, std::vector<std::size_t> before) {
  Stages stages(1);
  for (std::size_t i = 0; i < workload.networks[0].layers.size(); ++i) {
    if (std::find(before.begin(), before.end(), i) != before.end()) stages.emplace_back();
    stages.back().emplace_back(static_cast<std::int64_t>(i));
  }
  return stages;
}

std::vector<StageLayout> lay_out_all(const Workload& workload, const Stages& stages, const std::vector<PlanEdge>& edges) {
  std::vector<StageLayout> layouts;
  for (std::size_t s = 0; s < stages.size(); ++s)
    layouts.push_back(lay_out_stage(workload, NetworkId(0), stages, edges, StageId(static_cast<std::int64_t>(s)), kMicrobatch));
  return layouts;
}

// A region of memory that knows what was last written where: what is overwritten, in part or as a whole, is gone.
class Memory {
 public:
  void write(Bytes offset, Bytes size, std::string value) {
    EXPECT_EQ(offset.value % 64, 0);
    for (auto at = cells_.begin(); at != cells_.end();)
      at = at->first < offset.value + size.value && offset.value < at->first + at->second.first ? cells_.erase(at) : std::next(at);
    cells_[offset.value] = {size.value, std::move(value)};
    top = std::max(top, offset.value + size.value);
  }
  std::string read(Bytes offset) const {
    const auto at = cells_.find(offset.value);
    return at == cells_.end() ? "lost" : at->second.second;
  }
  std::int64_t top = 0;

 private:
  std::map<std::int64_t, std::pair<std::int64_t, std::string>> cells_;
};

// Runs one microbatch through all stages on symbols: "v3" for the output of layer 3, and for gradients the sums in the order
// in which they are formed. Gives the gradient of each layer's output as its backward finds it.
class SymbolicRun {
 public:
  SymbolicRun(const Workload& workload, const Stages& stages)
      : network_(workload.networks[0]), stages_(stages), edges_(crossing_edges(network_, stages, kMicrobatch)),
        layouts_(lay_out_all(workload, stages, edges_)), stash_(stages.size()), activations_(edges_.size()), gradients_(edges_.size()) {}

  std::vector<std::string> run() {
    for (std::size_t s = 0; s < stages_.size(); ++s) forward(s);
    for (std::size_t s = stages_.size(); s-- > 0;) backward(s);
    return found_;
  }
  const std::vector<StageLayout>& layouts() const { return layouts_; }

 private:
  Bytes size(LayerId layer) const { return kMicrobatch * network_.layers[layer.index()].output.bytes(); }

  BackwardNeeds needs(LayerId layer) const {
    std::vector<TensorShape> shapes;
    for (const LayerId input : network_.layers[layer.index()].inputs) shapes.push_back(network_.layers[input.index()].output);
    return backward_needs(network_.layers[layer.index()], shapes, kMicrobatch);
  }

  Memory& region(std::size_t s, const Home& home, bool gradient) {
    const StageLayout& layout = layouts_[s];
    const auto edge = static_cast<std::size_t>(home.edge);
    switch (home.region) {
      case Region::Stash: return stash_[s];
      case Region::Workspace: return workspace_;
      case Region::Send:
        return gradient ? gradients_[static_cast<std::size_t>(layout.in_edges[edge])] : activations_[static_cast<std::size_t>(layout.out_edges[edge])];
      case Region::Receive: return gradients_[static_cast<std::size_t>(layout.out_edges[edge])];
      case Region::None: break;
    }
    ADD_FAILURE() << "nowhere";
    return workspace_;
  }

  void run_forward(std::size_t s, const LayerPlacement& at) {
    const Layer& layer = network_.layers[at.layer.index()];
    for (std::size_t k = 0; k < layer.inputs.size(); ++k)
      EXPECT_EQ(region(s, at.inputs[k], false).read(at.inputs[k].offset), fmt::format("v{}", layer.inputs[k].value)) << layer.name;
    region(s, at.output, false).write(at.output.offset, size(at.layer), fmt::format("v{}", at.layer.value));
    if (const Bytes saved = needs(at.layer).saved; saved.value > 0) stash_[s].write(at.saved, saved, fmt::format("saved{}", at.layer.value));
  }

  void forward(std::size_t s) {
    const StageLayout& layout = layouts_[s];
    workspace_ = Memory();
    for (std::size_t i = 0; i < layout.in_edges.size(); ++i) {
      const PlanEdge& edge = edges_[static_cast<std::size_t>(layout.in_edges[i])];
      Bytes offset;
      for (const LayerId tensor : edge.tensors) {
        stash_[s].write(layout.received[i] + offset, size(tensor), activations_[static_cast<std::size_t>(layout.in_edges[i])].read(offset));
        offset += align_up(size(tensor), 64);
      }
    }
    for (const LayerPlacement& at : layout.layers)
      if (!network_.layers[at.layer.index()].is_loss()) run_forward(s, at);
    for (const EdgeCopy& copy : layout.forward_copies)
      region(s, copy.to, false).write(copy.to.offset, copy.bytes, region(s, copy.from, false).read(copy.from.offset));
    for (const LayerPlacement& at : layout.layers)
      if (network_.layers[at.layer.index()].is_loss()) run_forward(s, at);
    EXPECT_LE(workspace_.top, layout.workspace.value);
  }

  void backward(std::size_t s) {
    const StageLayout& layout = layouts_[s];
    workspace_ = Memory();
    found_.resize(network_.layers.size());
    for (const EdgeCopy& sum : layout.gradient_sums) {
      Memory& home = region(s, sum.to, true);
      home.write(sum.to.offset, sum.bytes, fmt::format("({}+{})", home.read(sum.to.offset), region(s, sum.from, true).read(sum.from.offset)));
    }
    for (std::size_t i = layout.layers.size(); i-- > 0;) {
      const LayerPlacement& at = layout.layers[i];
      const Layer& layer = network_.layers[at.layer.index()];
      std::string gradient = "1";
      if (!layer.is_loss()) {
        if (at.output_gradient.region == Region::None) continue;
        gradient = region(s, at.output_gradient, true).read(at.output_gradient.offset);
      }
      found_[at.layer.index()] = gradient;
      const BackwardNeeds need = needs(at.layer);
      if (need.saved.value > 0) {
        EXPECT_EQ(stash_[s].read(at.saved), fmt::format("saved{}", at.layer.value));
      }
      for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
        if (need.inputs) {
          EXPECT_EQ(at.inputs[k].region, Region::Stash);
          EXPECT_EQ(stash_[s].read(at.inputs[k].offset), fmt::format("v{}", layer.inputs[k].value));
        }
        const Home& to = at.input_gradients[k];
        std::string term = fmt::format("d{}.{}", at.layer.value, k);
        Memory& memory = region(s, to, true);
        if (at.adds_to_input[k]) term = fmt::format("({}+{})", memory.read(to.offset), term);
        memory.write(to.offset, size(layer.inputs[k]), term);
        // The layer still reads its output's gradient while it writes.
        if (!layer.is_loss()) {
          EXPECT_EQ(region(s, at.output_gradient, true).read(at.output_gradient.offset), gradient) << layer.name;
        }
      }
    }
    EXPECT_LE(workspace_.top, layout.workspace.value);
    EXPECT_LE(stash_[s].top, layout.stash.value);
  }

  const Network& network_;
  const Stages& stages_;
  const std::vector<PlanEdge> edges_;
  const std::vector<StageLayout> layouts_;
  std::vector<Memory> stash_, activations_, gradients_;  // by stage; by edge, sender's and receiver's buffer as one
  Memory workspace_;
  std::vector<std::string> found_;
};

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
  const StageLayout layout = lay_out_stage(b.workload_, NetworkId(0), stages, edges, StageId(1), kMicrobatch);
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

  const LayerPlacement &norm = layout.layers[0], &linear = layout.layers[1], &add = layout.layers[2];
  EXPECT_EQ(add.output_gradient, (Home{Region::Receive, 0, Bytes(0)}));
  EXPECT_EQ(add.input_gradients[0], (Home{Region::Send, 0, Bytes(0)}));
  EXPECT_EQ(add.input_gradients[1].region, Region::Workspace);
  EXPECT_EQ(add.adds_to_input, std::vector({false, false}));
  EXPECT_EQ(linear.output_gradient, add.input_gradients[1]);
  EXPECT_EQ(norm.input_gradients, std::vector<Home>(1, {Region::Send, 0, Bytes(0)}));
  EXPECT_EQ(norm.adds_to_input, std::vector({true}));
  EXPECT_EQ(layout.stash, tensor * 2 + Bytes(64));  // x, n, and LayerNorm's 2 floats for each of 8 rows
  EXPECT_EQ(layout.workspace, tensor * 2);          // dy and dn, while Linear's backward runs
  EXPECT_EQ(layout.parameters, Bytes(8 * 8 * 4 + 64));
}

TEST(StageLayout, ATensorThatTwoEdgesTakeIsCopiedAndItsGradientsAreSummed) {
  NetworkBuilder b = residual();
  const Stages stages = cut(b.workload_, {1, 3});  // the embedding is read by stages 1 (LN) and 2 (Add)
  SymbolicRun run(b.workload_, stages);
  const std::vector<std::string> gradients = run.run();
  const StageLayout& first = run.layouts()[0];
  EXPECT_EQ(first.layers[0].output.region, Region::Workspace);
  EXPECT_EQ(first.forward_copies.size(), 2u);
  ASSERT_EQ(first.gradient_sums.size(), 1u);
  EXPECT_EQ(first.layers[0].output_gradient, (Home{Region::Receive, 1, Bytes(0)}));  // from the farthest stage
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
  for (const std::vector<std::size_t>& cuts : std::vector<std::vector<std::size_t>>{{}, {1}, {2}, {1, 2}})
    EXPECT_EQ(SymbolicRun(b.workload_, cut(b.workload_, cuts)).run()[0], "(d1.0+d1.1)");
}

TEST(StageLayout, WhatNobodyReadsHasNoGradient) {
  NetworkBuilder b;
  b.add(LayerKind::Embedding, {});
  b.add(LayerKind::Gelu, {0});   // read by the dead one alone
  b.add(LayerKind::Linear, {1});  // dead
  b.add(LayerKind::Linear, {0});
  b.add(LayerKind::CrossEntropy, {3});
  for (const std::vector<std::size_t>& cuts : std::vector<std::vector<std::size_t>>{{}, {1}, {2}, {1, 2, 3}}) {
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
  EXPECT_EQ(parameter_offsets(b.workload_.networks[0], {LayerId(1)}), (std::vector{Bytes(0), Bytes(256)}));
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

TEST(StageLayout, EveryDivisionComputesTheSameGradientsAndLosesNothing) {
  std::mt19937 random(9);
  const auto upto = [&](std::size_t n) { return static_cast<std::size_t>(random()) % (n + 1); };
  int compared = 0;
  for (int round = 0; round < 600; ++round) {
    NetworkBuilder b;
    b.add(LayerKind::Embedding, {});
    const std::size_t count = 2 + upto(12);
    for (std::size_t i = 1; i < count; ++i) {
      constexpr std::array kinds = {LayerKind::LayerNorm, LayerKind::Linear, LayerKind::Attention, LayerKind::Gelu, LayerKind::Add};
      const LayerKind kind = kinds[upto(4)];
      const auto input = [&] { return static_cast<std::int32_t>(upto(2) == 0 ? upto(i - 1) : i - 1); };
      std::vector<std::int32_t> inputs = {input()};
      if (kind == LayerKind::Add) inputs.push_back(input());
      b.add(kind, inputs, 1 + static_cast<std::int64_t>(upto(40)));
    }
    b.add(LayerKind::CrossEntropy, {static_cast<std::int32_t>(count) - 1});
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i <= count; ++i)
      if (upto(2) == 0) cuts.push_back(i);
    const Stages whole = cut(b.workload_, {}), stages = cut(b.workload_, cuts);
    const std::vector<std::string> expected = SymbolicRun(b.workload_, whole).run();
    const std::vector<std::string> found = SymbolicRun(b.workload_, stages).run();
    for (const std::string& gradient : found) EXPECT_EQ(gradient.find("lost"), std::string::npos) << gradient;
    if (has_middle_sums(b.workload_.networks[0], stages)) continue;
    EXPECT_EQ(found, expected);
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

TEST(StageLayoutDeathTest, RecomputedStagesHaveNoLayout) {
  Plan plan;
  plan.workload = residual().workload_;
  plan.stages.resize(1);
  for (std::int32_t i = 0; i < 5; ++i) plan.stages[0].layers.emplace_back(i);
  EXPECT_EQ(lay_out_stage(plan, StageId(0)).layers.size(), 5u);
  plan.stages[0].recompute = {LayerId(1)};
  EXPECT_DEATH(lay_out_stage(plan, StageId(0)), "recomputed values have no places");
}

}  // namespace
}  // namespace penstock::test
