#include "core/footprint.h"

namespace penstock {
namespace {

constexpr std::int64_t kFloat = 4;  // bytes of an f32 or int32: what every auxiliary value is stored as

Bytes floats(std::int64_t count) {
  return align_up(Bytes(count * kFloat), kTensorAlignment);
}

}  // namespace

BackwardNeeds backward_needs(const Layer& layer, std::span<const TensorShape> input_shapes,
                             std::int64_t microbatch) {
  PENSTOCK_CHECK(input_shapes.size() == layer.inputs.size(),
                 "one shape for each input of the layer");
  const auto input = [&]() -> const TensorShape& {
    PENSTOCK_CHECK(!input_shapes.empty() && !input_shapes[0].dimensions.empty(),
                   "this kind of layer reads a tensor");
    return input_shapes[0];
  };
  switch (layer.kind) {
    case LayerKind::Embedding:
    case LayerKind::Add:
    case LayerKind::Pixels:
    case LayerKind::AveragePool:
    case LayerKind::Upsample:
    case LayerKind::Concat:
      return {};
    case LayerKind::LayerNorm: {
      const std::int64_t rows = microbatch * (input().elements() / input().dimensions.back());
      return {.inputs = true, .saved = floats(2 * rows)};
    }
    case LayerKind::Attention: {
      const std::int64_t tokens = input().dimensions.front();
      return {.inputs = true,
              .saved = floats(microbatch * layer.attribute("heads") * tokens * tokens)};
    }
    case LayerKind::CrossEntropy:
      return {.inputs = false, .saved = floats(microbatch * input().elements())};
    case LayerKind::BatchNorm:
      return {.inputs = true, .saved = floats(2 * input().dimensions.front())};
    case LayerKind::MaxPool:
      return {.inputs = false, .saved = floats(microbatch * layer.output.elements())};
    case LayerKind::Linear:
    case LayerKind::Gelu:
    case LayerKind::Conv2d:
    case LayerKind::Relu:
    case LayerKind::MeanSquared:
    case LayerKind::Opaque:
      return {.inputs = true};
  }
  PENSTOCK_CHECK(false, "every kind of layer is listed above");
}

Bytes widened_bytes(const Layer& layer, std::span<const TensorShape> input_shapes,
                    std::int64_t microbatch) {
  bool any = layer.output.type == DataType::BF16;
  Bytes copies = floats(microbatch * layer.output.elements());
  for (const TensorShape& shape : input_shapes) {
    any = any || shape.type == DataType::BF16;
    copies += 2 * floats(microbatch * shape.elements());
  }
  return any ? copies : Bytes(0);
}

}  // namespace penstock
