#include <fmt/format.h>

#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"

namespace penstock::cpu {

Result<std::unique_ptr<LayerKernel>> make_kernel(const Layer& layer,
                                                 std::span<const TensorShape> input_shapes,
                                                 std::int64_t microbatch,
                                                 std::int64_t rows_in_step) {
  PENSTOCK_CHECK(microbatch >= 1 && rows_in_step >= 1, "a kernel is built for at least one sample");
  const KernelRequest request{layer, input_shapes, microbatch, rows_in_step};
  const auto is_bf16 = [](const TensorShape& shape) { return shape.type == DataType::BF16; };
  if (is_bf16(layer.output) || std::any_of(input_shapes.begin(), input_shapes.end(), is_bf16))
    return make_stored_bf16(request);
  switch (layer.kind) {
    case LayerKind::Embedding:
      return make_embedding(request);
    case LayerKind::LayerNorm:
      return make_layer_norm(request);
    case LayerKind::Linear:
      return make_linear(request);
    case LayerKind::Attention:
      return make_attention(request);
    case LayerKind::Gelu:
      return make_gelu(request);
    case LayerKind::Add:
      return make_add(request);
    case LayerKind::CrossEntropy:
      return make_cross_entropy(request);
    case LayerKind::MeanSquared:
      return make_mean_squared(request);
    case LayerKind::Pixels:
      return make_pixels(request);
    case LayerKind::Conv2d:
      return make_conv2d(request);
    case LayerKind::BatchNorm:
      return make_batch_norm(request);
    case LayerKind::Relu:
      return make_relu(request);
    case LayerKind::MaxPool:
      return make_max_pool(request);
    case LayerKind::AveragePool:
      return make_average_pool(request);
    case LayerKind::Upsample:
      return make_upsample(request);
    case LayerKind::Concat:
      return make_concat(request);
    case LayerKind::Opaque:
      break;
  }
  return fail(
      ErrorCode::Infeasible,
      fmt::format("layer \"{}\" is opaque: known by its costs alone, there is nothing to execute",
                  layer.name),
      "it can be planned and simulated; to run it, describe the layer by kinds that have kernels");
}

}  // namespace penstock::cpu
