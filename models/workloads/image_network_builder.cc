#include "models/workloads/image_network_builder.h"

#include <cmath>
#include <utility>

#include "core/image_shapes.h"

namespace penstock {

ImageNetworkBuilder::ImageNetworkBuilder(std::string name, std::int64_t channels, std::int64_t size)
    : name_(std::move(name)), image_{DataType::Byte, {channels, size, size}} {
  network_.name = name_;
  sources_.push_back({"image", SourceKind::Image, image_});
}

const std::vector<std::int64_t>& ImageNetworkBuilder::dimensions(LayerId layer) const {
  return network_.layers[layer.index()].output.dimensions;
}

LayerId ImageNetworkBuilder::append(std::string name, LayerKind kind, std::vector<LayerId> inputs,
                                    std::vector<std::int64_t> output) {
  Layer& layer = network_.layers.emplace_back();
  layer.name = std::move(name);
  layer.kind = kind;
  layer.inputs = std::move(inputs);
  layer.output = {DataType::F32, std::move(output)};
  return LayerId(static_cast<std::int64_t>(network_.layers.size()) - 1);
}

SourceId ImageNetworkBuilder::source(SourceKind kind) {
  for (std::size_t s = 0; s < sources_.size(); ++s)
    if (sources_[s].kind == kind) return SourceId(static_cast<std::int64_t>(s));
  if (kind == SourceKind::Label)
    sources_.push_back({"label", kind, {DataType::Byte, {}}});
  else
    sources_.push_back({"noisy", kind, image_});
  return SourceId(static_cast<std::int64_t>(sources_.size()) - 1);
}

LayerId ImageNetworkBuilder::pixels(std::string name, ImageInput input) {
  const LayerId id = append(std::move(name), LayerKind::Pixels, {}, image_.dimensions);
  last().sources = {
      source(input == ImageInput::Clean ? SourceKind::Image : SourceKind::NoisyImage)};
  return id;
}

LayerId ImageNetworkBuilder::conv(std::string name, LayerId input, const Convolution& c) {
  PENSTOCK_CHECK(c.kernel % 2 == 1, "the same padding on both sides keeps height and width");
  const std::vector<std::int64_t>& from = dimensions(input);
  const std::int64_t padding = (c.kernel - 1) / 2;
  const std::vector<std::int64_t> weight = {c.channels, from[0], c.kernel, c.kernel};
  const double deviation = std::sqrt(2.0 / static_cast<double>(from[0] * c.kernel * c.kernel));
  const LayerId id =
      append(name, LayerKind::Conv2d, {input},
             {c.channels, shapes::window_places(from[1], c.kernel, c.stride, padding),
              shapes::window_places(from[2], c.kernel, c.stride, padding)});
  last().attributes = {{"kernel", c.kernel}, {"stride", c.stride}, {"padding", padding}};
  last().parameters.push_back({name + ".weight", weight, Initializer::Normal, deviation});
  if (c.bias) last().parameters.push_back({name + ".bias", {c.channels}});
  return id;
}

LayerId ImageNetworkBuilder::batch_norm(std::string name, LayerId input) {
  const std::vector<std::int64_t> channels = {dimensions(input)[0]};
  const LayerId id = append(name, LayerKind::BatchNorm, {input}, dimensions(input));
  constexpr auto Trained = ParameterRole::Trained, Statistic = ParameterRole::Statistic;
  last().parameters = {{name + ".weight", channels, Initializer::Ones, 0, Trained},
                       {name + ".bias", channels, Initializer::Zeros, 0, Trained},
                       {name + ".mean", channels, Initializer::Zeros, 0, Statistic},
                       {name + ".variance", channels, Initializer::Ones, 0, Statistic}};
  return id;
}

LayerId ImageNetworkBuilder::relu(std::string name, LayerId input) {
  return append(std::move(name), LayerKind::Relu, {input}, dimensions(input));
}

LayerId ImageNetworkBuilder::add(std::string name, LayerId a, LayerId b) {
  PENSTOCK_CHECK(dimensions(a) == dimensions(b), "a residual connection adds equal shapes");
  return append(std::move(name), LayerKind::Add, {a, b}, dimensions(a));
}

LayerId ImageNetworkBuilder::max_pool(std::string name, LayerId input, std::int64_t kernel) {
  const std::vector<std::int64_t>& from = dimensions(input);
  const LayerId id = append(std::move(name), LayerKind::MaxPool, {input},
                            {from[0], shapes::window_places(from[1], kernel, kernel, 0),
                             shapes::window_places(from[2], kernel, kernel, 0)});
  last().attributes = {{"kernel", kernel}, {"stride", kernel}, {"padding", 0}};
  return id;
}

LayerId ImageNetworkBuilder::average_pool(std::string name, LayerId input) {
  return append(std::move(name), LayerKind::AveragePool, {input}, {dimensions(input)[0]});
}

LayerId ImageNetworkBuilder::upsample(std::string name, LayerId input, std::int64_t factor) {
  const std::vector<std::int64_t>& from = dimensions(input);
  const LayerId id = append(std::move(name), LayerKind::Upsample, {input},
                            {from[0], factor * from[1], factor * from[2]});
  last().attributes = {{"factor", factor}};
  return id;
}

LayerId ImageNetworkBuilder::concat(std::string name, std::vector<LayerId> inputs) {
  std::vector<std::int64_t> whole = dimensions(inputs.at(0));
  for (std::size_t i = 1; i < inputs.size(); ++i) whole[0] += dimensions(inputs[i])[0];
  return append(std::move(name), LayerKind::Concat, std::move(inputs), std::move(whole));
}

LayerId ImageNetworkBuilder::linear(std::string name, LayerId input, std::int64_t width) {
  const std::int64_t in = dimensions(input).back();
  const LayerId id = append(name, LayerKind::Linear, {input}, {width});
  last().parameters = {{name + ".weight",
                        {in, width},
                        Initializer::Normal,
                        std::sqrt(1.0 / static_cast<double>(in))},
                       {name + ".bias", {width}}};
  return id;
}

LayerId ImageNetworkBuilder::cross_entropy(std::string name, LayerId logits) {
  const LayerId id = append(std::move(name), LayerKind::CrossEntropy, {logits}, {});
  last().sources = {source(SourceKind::Label)};
  return id;
}

LayerId ImageNetworkBuilder::mean_squared(std::string name, LayerId prediction) {
  const LayerId id = append(std::move(name), LayerKind::MeanSquared, {prediction}, {});
  last().sources = {source(SourceKind::Image)};
  return id;
}

Workload ImageNetworkBuilder::take() {
  Workload workload;
  workload.name = name_;
  workload.networks.push_back(std::move(network_));
  Store& weights = workload.stores.emplace_back();
  weights.name = "weights";
  weights.network = NetworkId(0);
  workload.sources = std::move(sources_);
  workload.phases.push_back({"training", 0, ""});
  return workload;
}

}  // namespace penstock
