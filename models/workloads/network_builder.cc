#include "models/workloads/network_builder.h"

#include <utility>

namespace penstock {
namespace {

constexpr SourceId kTokens{0};
constexpr SourceId kTargets{1};

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, std::int64_t sequence)
    : name_(std::move(name)), sequence_(sequence) {
  network_.name = name_;
}

LayerId NetworkBuilder::append(Layer layer) {
  network_.layers.push_back(std::move(layer));
  return LayerId(static_cast<std::int64_t>(network_.layers.size()) - 1);
}

std::int64_t NetworkBuilder::width(LayerId layer) const {
  return network_.layers[layer.index()].output.dimensions.back();
}

LayerId NetworkBuilder::embedding(std::string name, std::int64_t vocabulary, std::int64_t width,
                                  double deviation) {
  Layer layer{.name = name,
              .kind = LayerKind::Embedding,
              .attributes = {},
              .inputs = {},
              .sources = {kTokens},
              .output = shape(width),
              .parameters = {}};
  layer.parameters.push_back(
      {name + ".tokens", {vocabulary, width}, Initializer::Normal, deviation});
  layer.parameters.push_back(
      {name + ".positions", {sequence_, width}, Initializer::Normal, deviation});
  return append(std::move(layer));
}

LayerId NetworkBuilder::layer_norm(std::string name, LayerId input) {
  const std::int64_t n = width(input);
  Layer layer{.name = name,
              .kind = LayerKind::LayerNorm,
              .attributes = {},
              .inputs = {input},
              .sources = {},
              .output = shape(n),
              .parameters = {}};
  layer.parameters.push_back({name + ".weight", {n}, Initializer::Ones, 0});
  layer.parameters.push_back({name + ".bias", {n}, Initializer::Zeros, 0});
  return append(std::move(layer));
}

LayerId NetworkBuilder::linear(std::string name, LayerId input, std::int64_t width,
                               double deviation) {
  Layer layer{.name = name,
              .kind = LayerKind::Linear,
              .attributes = {},
              .inputs = {input},
              .sources = {},
              .output = shape(width),
              .parameters = {}};
  layer.parameters.push_back(
      {name + ".weight", {this->width(input), width}, Initializer::Normal, deviation});
  layer.parameters.push_back({name + ".bias", {width}, Initializer::Zeros, 0});
  return append(std::move(layer));
}

LayerId NetworkBuilder::attention(std::string name, LayerId qkv, std::int64_t heads) {
  PENSTOCK_CHECK(width(qkv) % (3 * heads) == 0,
                 "queries, keys and values side by side, each divided among the heads");
  return append({.name = std::move(name),
                 .kind = LayerKind::Attention,
                 .attributes = {{"heads", heads}},
                 .inputs = {qkv},
                 .sources = {},
                 .output = shape(width(qkv) / 3),
                 .parameters = {}});
}

LayerId NetworkBuilder::gelu(std::string name, LayerId input) {
  return append({.name = std::move(name),
                 .kind = LayerKind::Gelu,
                 .attributes = {},
                 .inputs = {input},
                 .sources = {},
                 .output = shape(width(input)),
                 .parameters = {}});
}

LayerId NetworkBuilder::add(std::string name, LayerId a, LayerId b) {
  PENSTOCK_CHECK(width(a) == width(b), "a residual connection adds equal shapes");
  return append({.name = std::move(name),
                 .kind = LayerKind::Add,
                 .attributes = {},
                 .inputs = {a, b},
                 .sources = {},
                 .output = shape(width(a)),
                 .parameters = {}});
}

LayerId NetworkBuilder::cross_entropy(std::string name, LayerId logits) {
  return append({.name = std::move(name),
                 .kind = LayerKind::CrossEntropy,
                 .attributes = {},
                 .inputs = {logits},
                 .sources = {kTargets},
                 .output = {DataType::F32, {}},
                 .parameters = {}});
}

Workload NetworkBuilder::take() {
  Workload workload;
  workload.name = name_;
  workload.networks.push_back(std::move(network_));
  Store weights;
  weights.name = "weights";
  weights.network = NetworkId(0);
  workload.stores.push_back(std::move(weights));
  workload.sources.push_back({"tokens", SourceKind::Text, {DataType::Byte, {sequence_}}});
  workload.sources.push_back({"targets", SourceKind::NextText, {DataType::Byte, {sequence_}}});
  workload.phases.push_back({"training", 0, ""});
  return workload;
}

}  // namespace penstock
