#pragma once

// What a layer kernel is built for, and the factories that registry.cc chooses from: one a kind,
// each in its own file.

#include <initializer_list>
#include <memory>
#include <span>
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
KernelResult make_cross_entropy(const KernelRequest& request);
KernelResult make_mean_squared(const KernelRequest& request);

// BadInput unless the layer has that many inputs and sources and exactly those parameter shapes: a
// kernel built on anything else would read past its operands.
Result<void> expect_operands(const KernelRequest& request, std::size_t inputs, std::size_t sources,
                             std::initializer_list<std::vector<std::int64_t>> parameters);

// Features (the last dimension) of a shape with at least one dimension; and how many rows of them a
// microbatch has.
std::int64_t features(const TensorShape& shape);
std::int64_t rows(const TensorShape& shape, std::int64_t microbatch);

}  // namespace penstock::cpu
