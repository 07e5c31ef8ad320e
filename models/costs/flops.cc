#include "models/costs/flops.h"

namespace penstock {
namespace {

double elements(const TensorShape& shape) {
  return static_cast<double>(shape.elements());
}
double features(const TensorShape& shape) {
  return static_cast<double>(shape.dimensions.back());
}

}  // namespace

LayerFlops layer_flops(const Layer& layer, std::span<const TensorShape> input_shapes,
                       std::int64_t microbatch) {
  const auto b = static_cast<double>(microbatch);
  const auto flops = [](double forward, double input, double weight) {
    return LayerFlops{Flops(forward), Flops(input), Flops(weight)};
  };
  const auto input = [&]() -> const TensorShape& {
    PENSTOCK_CHECK(!input_shapes.empty() && !input_shapes[0].dimensions.empty(),
                   "this kind of layer reads a tensor");
    return input_shapes[0];
  };
  switch (layer.kind) {
    case LayerKind::Embedding: {
      const double n = b * elements(layer.output);
      return flops(n, 0, 2 * n);
    }
    case LayerKind::LayerNorm: {
      const double n = b * elements(layer.output);
      return flops(8 * n, 14 * n, 5 * n);
    }
    case LayerKind::Linear: {
      const double in = features(input()), out = features(layer.output);
      const double rows = b * elements(layer.output) / out;
      const double product = 2 * rows * in * out;
      return flops(product + rows * out, product, product + rows * out);
    }
    case LayerKind::Attention: {
      const auto tokens = static_cast<double>(layer.output.dimensions.front());
      const double products = b * tokens * tokens * features(layer.output);
      const double scores = b * tokens * tokens * static_cast<double>(layer.attribute("heads"));
      return flops(4 * products + 6 * scores, 8 * products + 4 * scores, 0);
    }
    case LayerKind::Gelu: {
      const double n = b * elements(layer.output);
      return flops(8 * n, 17 * n, 0);
    }
    case LayerKind::Add:
      return flops(b * elements(layer.output), 0, 0);
    case LayerKind::CrossEntropy: {
      const double n = b * elements(input());
      const double rows = n / features(input());
      return flops(5 * n + 2 * rows, n + rows, 0);
    }
    case LayerKind::MeanSquared: {
      const double n = b * elements(input());
      return flops(3 * n, 2 * n, 0);
    }
    case LayerKind::Opaque:
      break;
  }
  PENSTOCK_CHECK(false, "what an opaque layer computes is not known");
}

Flops step_flops(const Layer& layer, const Optimizer& optimizer) {
  double each = optimizer.adaptive() ? 13 : optimizer.momentum != 0 ? 4 : 2;
  if (optimizer.weight_decay != 0) each += 2;
  if (optimizer.clip != 0) each += 3;
  double operations = 0;
  for (const Parameter& parameter : layer.parameters)
    operations += static_cast<double>(parameter.elements()) *
                  (parameter.role == ParameterRole::Statistic ? 2 : each);
  return Flops(operations);
}

std::vector<TensorShape> input_shapes(const Network& network, LayerId layer) {
  std::vector<TensorShape> shapes;
  for (const LayerId producer : network.layers[layer.index()].inputs)
    shapes.push_back(network.layers[producer.index()].output);
  return shapes;
}

}  // namespace penstock
