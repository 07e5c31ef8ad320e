#include "models/costs/bytes.h"

#include <algorithm>

#include "core/footprint.h"

namespace penstock {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr Bytes kTables{64 << 10};  // of the matrix library, beside its packed operands

double parameter_bytes(const Parameter& parameter) {
  return static_cast<double>(kFloat * parameter.elements());
}

double parameter_bytes(const Layer& layer) {
  double bytes = 0;
  for (const Parameter& parameter : layer.parameters) bytes += parameter_bytes(parameter);
  return bytes;
}

Bytes aligned(std::int64_t floats) {
  return align_up(Bytes(floats * kFloat), kTensorAlignment);
}

// Three passes, each with packed copies of what it reads and makes; a gradient that is added to
// what is there passes through the place of what was read, once plain.
Bytes convolution_scratch(const Layer& layer, const TensorShape& input, std::int64_t microbatch) {
  const auto packed = [](std::int64_t channels) {
    constexpr std::int64_t kBlock = 16;  // channels that the library keeps side by side
    return (channels + kBlock - 1) / kBlock * kBlock;
  };
  const std::int64_t in = input.dimensions[0], out = layer.output.dimensions[0];
  const std::int64_t window = layer.attribute("kernel") * layer.attribute("kernel");
  const std::int64_t pixels = microbatch * (input.elements() / in);
  const std::int64_t places = microbatch * (layer.output.elements() / out);
  const Bytes x = aligned(packed(in) * pixels), y = aligned(packed(out) * places),
              w = aligned(packed(in) * packed(out) * window);
  return kTables + std::max({x + w + y, std::max(y + w, aligned(in * pixels)) + x,
                             std::max(x + y, aligned(in * out * window)) + w});
}

Bytes kernel_scratch(const Layer& layer, std::span<const TensorShape> input_shapes,
                     std::int64_t microbatch) {
  if (layer.kind == LayerKind::Linear) {
    return kTables + aligned(std::max({layer.parameters[0].elements(),
                                       microbatch * input_shapes[0].elements(),
                                       microbatch * layer.output.elements()}));
  }
  if (layer.kind == LayerKind::Conv2d)
    return convolution_scratch(layer, input_shapes[0], microbatch);
  if (layer.kind == LayerKind::Attention) {
    const std::int64_t tokens = layer.output.dimensions.front();
    const std::int64_t depth = layer.output.dimensions.back() / layer.attribute("heads");
    return kTables + 5 * aligned(tokens * depth) + 2 * aligned(tokens * tokens);
  }
  return Bytes(0);
}

}  // namespace

LayerTraffic layer_traffic(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch) {
  const auto b = static_cast<double>(microbatch);
  const double x =
      input_shapes.empty() ? 0 : b * static_cast<double>(input_shapes[0].bytes().value);
  const double y = b * static_cast<double>(layer.output.bytes().value);
  const double p = parameter_bytes(layer);
  const auto s = static_cast<double>(backward_needs(layer, input_shapes, microbatch).saved.value);
  double t = 0;
  for (const SourceId source : layer.sources)
    t += b * static_cast<double>(workload.sources[source.index()].sample.bytes().value);
  const auto traffic = [&](double forward, double input, double weight) {
    return LayerTraffic{2 * t, forward, input, weight};
  };
  switch (layer.kind) {
    case LayerKind::Embedding:
      return traffic(t + 3 * y, 0, t + 5 * y);
    case LayerKind::LayerNorm:
      return traffic(x + y + s + p, 2 * x + y + s + p / 2, x + y + s + 2 * p);
    case LayerKind::Linear: {
      PENSTOCK_CHECK(!layer.parameters.empty(), "a linear layer has a weight");
      return traffic(x + y + p, x + y + parameter_bytes(layer.parameters[0]), x + y + 2 * p);
    }
    case LayerKind::Attention:
      return traffic(x + y + 2 * s, 2 * x + y + 3 * s, 0);
    case LayerKind::Gelu:
      return traffic(x + y, 2 * x + y, 0);
    case LayerKind::Add:
      return traffic(2 * x + y, 2 * x + y, 0);
    case LayerKind::CrossEntropy:
      return traffic(t + x + s, t + s + x, 0);
    case LayerKind::MeanSquared:
      return traffic(t + x, t + 2 * x, 0);
    case LayerKind::Pixels:
      return traffic(t + y, 0, 0);
    case LayerKind::Conv2d: {
      PENSTOCK_CHECK(!layer.parameters.empty(), "a convolution has a weight");
      return traffic(x + y + p, x + y + parameter_bytes(layer.parameters[0]), x + y + 2 * p);
    }
    case LayerKind::BatchNorm:
      return traffic(3 * x + y + s + p / 2, 3 * x + 2 * y + s + p / 4, x + y + s + 2 * p);
    case LayerKind::Relu:
      return traffic(x + y, 2 * x + y, 0);
    case LayerKind::MaxPool:
      return traffic(x + y + s, 2 * x + y + s, 0);
    case LayerKind::AveragePool:
    case LayerKind::Upsample:
      return traffic(x + y, x + y, 0);
    case LayerKind::Concat:
      return traffic(2 * y, 2 * y, 0);
    case LayerKind::Opaque:
      break;
  }
  PENSTOCK_CHECK(false, "what an opaque layer moves is not known");
}

double step_traffic(const Layer& layer, const Optimizer& optimizer) {
  const double each = 2 * static_cast<double>(2 + optimizer.states()) + (optimizer.clip != 0 ? 3 : 0) +
                      (optimizer.weight_decay != 0 ? 3 : 0);
  double bytes = 0;
  for (const Parameter& parameter : layer.parameters)
    bytes += static_cast<double>(parameter.elements() * kFloat) *
             (parameter.role == ParameterRole::Statistic ? 4 : each);
  return bytes;
}

Bytes scratch_estimate(const Layer& layer, std::span<const TensorShape> input_shapes,
                       std::int64_t microbatch) {
  return kernel_scratch(layer, input_shapes, microbatch) +
         widened_bytes(layer, input_shapes, microbatch);
}

}  // namespace penstock
