#pragma once

// For the tests of stage layouts: small networks, and a run of one microbatch on symbols instead of numbers, in which
// every value must be found where the layout says it is.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/footprint.h"
#include "core/stage_layout.h"

namespace penstock::test {

inline constexpr std::int64_t kMicrobatch = 2;

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
      workload_.sources.push_back({fmt::format("source{}", workload_.sources.size()),
                                   SourceKind::Text,
                                   {DataType::Byte, {10}}});
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
inline Stages cut(const Workload& workload, std::vector<std::size_t> before) {
  Stages stages(1);
  for (std::size_t i = 0; i < workload.networks[0].layers.size(); ++i) {
    if (std::find(before.begin(), before.end(), i) != before.end()) stages.emplace_back();
    stages.back().emplace_back(static_cast<std::int64_t>(i));
  }
  return stages;
}

// Of each stage those layers are recomputed that it holds of `recompute` (ascending).
inline std::vector<StageLayout> lay_out_all(const Workload& workload, const Stages& stages,
                                     const std::vector<PlanEdge>& edges,
                                     const std::vector<LayerId>& recompute = {}) {
  std::vector<StageLayout> layouts;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    std::vector<LayerId> mine;
    std::set_intersection(stages[s].begin(), stages[s].end(), recompute.begin(), recompute.end(),
                          std::back_inserter(mine));
    layouts.push_back(lay_out_stage(workload, NetworkId(0), stages, edges,
                                    StageId(static_cast<std::int64_t>(s)), kMicrobatch, mine));
  }
  return layouts;
}

// A region of memory that knows what was last written where: what is overwritten, in part or as a
// whole, is gone.
class Memory {
 public:
  void write(Bytes offset, Bytes size, std::string value) {
    EXPECT_EQ(offset.value % 64, 0);
    for (auto at = cells_.begin(); at != cells_.end();)
      at = at->first < offset.value + size.value && offset.value < at->first + at->second.first
               ? cells_.erase(at)
               : std::next(at);
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

// Runs one microbatch through all stages on symbols: "v3" for the output of layer 3, and for
// gradients the sums in the order in which they are formed. Gives the gradient of each layer's
// output as its backward finds it.
class SymbolicRun {
 public:
  SymbolicRun(const Workload& workload, const Stages& stages,
              const std::vector<LayerId>& recompute = {})
      : network_(workload.networks[0]),
        stages_(stages),
        edges_(crossing_edges(network_, stages, kMicrobatch)),
        layouts_(lay_out_all(workload, stages, edges_, recompute)),
        stash_(stages.size()),
        activations_(edges_.size()),
        gradients_(edges_.size()) {}

  std::vector<std::string> run() {
    for (std::size_t s = 0; s < stages_.size(); ++s) forward(s);
    for (std::size_t s = stages_.size(); s-- > 0;) backward(s);
    return found_;
  }
  const std::vector<StageLayout>& layouts() const { return layouts_; }

 private:
  Bytes size(LayerId layer) const {
    return kMicrobatch * network_.layers[layer.index()].output.bytes();
  }

  BackwardNeeds needs(LayerId layer) const {
    std::vector<TensorShape> shapes;
    for (const LayerId input : network_.layers[layer.index()].inputs)
      shapes.push_back(network_.layers[input.index()].output);
    return backward_needs(network_.layers[layer.index()], shapes, kMicrobatch);
  }

  Memory& region(std::size_t s, const Home& home, bool gradient) {
    const StageLayout& layout = layouts_[s];
    const auto edge = static_cast<std::size_t>(home.edge);
    switch (home.region) {
      case Region::Stash:
        return stash_[s];
      case Region::Workspace:
        return workspace_;
      case Region::Send:
        return gradient ? gradients_[static_cast<std::size_t>(layout.in_edges[edge])]
                        : activations_[static_cast<std::size_t>(layout.out_edges[edge])];
      case Region::Receive:
        return gradients_[static_cast<std::size_t>(layout.out_edges[edge])];
      case Region::None:
        break;
    }
    ADD_FAILURE() << "nowhere";
    return workspace_;
  }

  void run_forward(std::size_t s, const LayerPlacement& at) {
    const Layer& layer = network_.layers[at.layer.index()];
    for (std::size_t k = 0; k < layer.inputs.size(); ++k)
      EXPECT_EQ(region(s, at.inputs[k], false).read(at.inputs[k].offset),
                fmt::format("v{}", layer.inputs[k].value))
          << layer.name;
    region(s, at.output, false)
        .write(at.output.offset, size(at.layer), fmt::format("v{}", at.layer.value));
    if (const Bytes saved = needs(at.layer).saved; saved.value > 0)
      region(s, at.saved, false).write(at.saved.offset, saved, fmt::format("saved{}", at.layer.value));
  }

  void forward(std::size_t s) {
    const StageLayout& layout = layouts_[s];
    workspace_ = Memory();
    for (std::size_t i = 0; i < layout.in_edges.size(); ++i) {
      const PlanEdge& edge = edges_[static_cast<std::size_t>(layout.in_edges[i])];
      Bytes offset;
      for (const LayerId tensor : edge.tensors) {
        stash_[s].write(layout.received[i] + offset, size(tensor),
                        activations_[static_cast<std::size_t>(layout.in_edges[i])].read(offset));
        offset += align_up(size(tensor), 64);
      }
    }
    for (const LayerPlacement& at : layout.layers)
      if (!network_.layers[at.layer.index()].is_loss()) run_forward(s, at);
    for (const EdgeCopy& copy : layout.forward_copies)
      region(s, copy.to, false)
          .write(copy.to.offset, copy.bytes, region(s, copy.from, false).read(copy.from.offset));
    for (const LayerPlacement& at : layout.layers)
      if (network_.layers[at.layer.index()].is_loss()) run_forward(s, at);
    EXPECT_LE(workspace_.top, layout.workspace.value);
  }

  void backward(std::size_t s) {
    const StageLayout& layout = layouts_[s];
    workspace_ = Memory();
    for (const LayerPlacement& at : layout.layers)
      if (std::binary_search(layout.recomputed.begin(), layout.recomputed.end(), at.layer))
        run_forward(s, at);
    found_.resize(network_.layers.size());
    for (const EdgeCopy& sum : layout.gradient_sums) {
      Memory& home = region(s, sum.to, true);
      home.write(sum.to.offset, sum.bytes,
                 fmt::format("({}+{})", home.read(sum.to.offset),
                             region(s, sum.from, true).read(sum.from.offset)));
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
        EXPECT_EQ(region(s, at.saved, false).read(at.saved.offset), fmt::format("saved{}", at.layer.value));
      }
      for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
        if (need.inputs) {
          EXPECT_EQ(region(s, at.inputs[k], false).read(at.inputs[k].offset),
                    fmt::format("v{}", layer.inputs[k].value));
        }
        const Home& to = at.input_gradients[k];
        std::string term = fmt::format("d{}.{}", at.layer.value, k);
        Memory& memory = region(s, to, true);
        if (at.adds_to_input[k]) term = fmt::format("({}+{})", memory.read(to.offset), term);
        memory.write(to.offset, size(layer.inputs[k]), term);
        // The layer still reads its output's gradient while it writes.
        if (!layer.is_loss()) {
          EXPECT_EQ(region(s, at.output_gradient, true).read(at.output_gradient.offset), gradient)
              << layer.name;
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
  std::vector<Memory> stash_;                   // by stage
  std::vector<Memory> activations_, gradients_;  // by edge: sender's and receiver's buffer as one
  Memory workspace_;
  std::vector<std::string> found_;
};

}  // namespace penstock::test
