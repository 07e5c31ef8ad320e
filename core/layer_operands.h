#pragma once

// What the rules of layer shapes (layer_shapes.cc, image_shapes.cc) share: a layer with the shapes
// of what it reads, and the questions asked of every kind. Places in errors are seen from the
// layer.

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/workload.h"

namespace penstock::shapes {

using Dimensions = std::vector<std::int64_t>;

// Inputs first, then sources.
struct Operands {
  const Layer& layer;
  std::vector<TensorShape> inputs, sources;

  const Dimensions& input(std::size_t i) const { return inputs[i].dimensions; }
  const Dimensions& output() const { return layer.output.dimensions; }
  std::string who() const { return "layer '" + layer.name + "'"; }
};

std::string text(const Dimensions& dimensions);  // "[3, 32, 32]"

// So many inputs, each with at least one dimension, and so many sources.
Result<void> count(const Operands& x, std::size_t inputs, std::size_t sources);
Result<void> output_is(const Operands& x, const Dimensions& expected);
// Of these shapes, in this order; the first `trained` of them trained, the others statistics.
Result<void> parameters_are(const Operands& x, const std::vector<Dimensions>& expected,
                            std::size_t trained);
// All of them trained.
inline Result<void> parameters_are(const Operands& x, const std::vector<Dimensions>& expected) {
  return parameters_are(x, expected, expected.size());
}

}  // namespace penstock::shapes
