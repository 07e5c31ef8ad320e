#pragma once

// What a layer kernel is built for, and the factories that registry.cc chooses from: one a kind,
// each in its own file.

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/workload.h"
#include "exec/cpu/layer_kernel.h"

namespace penstock::cpu {

struct KernelRequest {
  const Layer& layer;
  std::span<const TensorShape> inputs;  // one a Layer::inputs entry, per sample
  std::int64_t microbatch = 1;          // samples
  std::int64_t rows_in_step = 1;        // loss rows of the global batch
};

using KernelResult = Result<std::unique_ptr<LayerKernel>>;

KernelResult make_embedding(const KernelRequest& request);
KernelResult make_layer_norm(const KernelRequest& request);
KernelResult make_linear(const KernelRequest& request);
KernelResult make_attention(const KernelRequest& request);
KernelResult make_gelu(const KernelRequest& request);
KernelResult make_add(const KernelRequest& request);
// Around the f32 kernel of the same layer, where some of its tensors are stored as bf16.
KernelResult make_stored_bf16(const KernelRequest& request);
KernelResult make_cross_entropy(const KernelRequest& request);
KernelResult make_mean_squared(const KernelRequest& request);
KernelResult make_pixels(const KernelRequest& request);
KernelResult make_conv2d(const KernelRequest& request);
KernelResult make_batch_norm(const KernelRequest& request);
KernelResult make_relu(const KernelRequest& request);
KernelResult make_max_pool(const KernelRequest& request);
KernelResult make_average_pool(const KernelRequest& request);
KernelResult make_upsample(const KernelRequest& request);
KernelResult make_concat(const KernelRequest& request);

// BadInput unless the layer has that many inputs and sources and exactly those parameter shapes: a
// kernel built on anything else would read past its operands.
Result<void> expect_operands(const KernelRequest& request, std::size_t inputs, std::size_t sources,
                             std::initializer_list<std::vector<std::int64_t>> parameters);

// BadInput unless the layer's output has that shape.
Result<void> expect_output(const KernelRequest& request, const std::vector<std::int64_t>& expected);

// BadInput, in words about the layer.
tl::unexpected<Error> refuse(const KernelRequest& request, const std::string& what);

// Features (the last dimension) of a shape with at least one dimension; and how many rows of them a
// microbatch has. Of [classes]: one row a sample.
std::int64_t features(const TensorShape& shape);
std::int64_t rows(const TensorShape& shape, std::int64_t microbatch);

// [channels, height, width]. A plane is one channel of one sample.
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;

  std::int64_t plane() const { return height * width; }
};
// BadInput unless the layer has that input and it is an image.
Result<Image> image(const KernelRequest& request, std::size_t input = 0);

// The attributes kernel, stride and padding.
struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0;

  // How many fit into `extent` pixels and the padding of both sides.
  std::int64_t places(std::int64_t extent) const {
    return (extent + 2 * padding - kernel) / stride + 1;
  }
};
// BadInput unless all three are there, in range, and one fits into the image.
Result<Window> window(const KernelRequest& request, const Image& image);

// BadInput if absent or below `least`.
Result<std::int64_t> attribute(const KernelRequest& request, const char* name, std::int64_t least);

}  // namespace penstock::cpu
