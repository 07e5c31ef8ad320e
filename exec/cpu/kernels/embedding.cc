#include <cstring>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y[s, t] = token_table[tokens[s, t]] + position_table[t]. Tokens have no gradient; the tables'
// gradients receive the rows of the microbatch in the order of (sample, position), so a token that
// occurs twice is added twice in that order.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void add_rows(const float* __restrict a, const float* __restrict b, std::int64_t n,
                              float* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

PENSTOCK_CLONES void add_to(const float* __restrict x, std::int64_t n, float* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

class Embedding final : public LayerKernel {
 public:
  Embedding(std::int64_t samples, std::int64_t positions, std::int64_t width,
            std::int64_t vocabulary)
      : samples_(samples), positions_(positions), width_(width), vocabulary_(vocabulary) {}

  void forward(const LayerOperands& operands) override {
    const float* tokens = operands.parameters[0];
    const float* places = operands.parameters[1];
    for (std::int64_t row = 0; row < samples_ * positions_; ++row) {
      add_rows(tokens + token(operands, row) * width_, places + row % positions_ * width_, width_,
               operands.output + row * width_);
    }
  }

  void backward_input(const LayerOperands&) override {}

  void backward_weight(const LayerOperands& operands) override {
    float* tokens = operands.parameter_gradients[0];
    float* places = operands.parameter_gradients[1];
    for (std::int64_t row = 0; row < samples_ * positions_; ++row) {
      const float* gradient = operands.output_gradient + row * width_;
      add_to(gradient, width_, tokens + token(operands, row) * width_);
      add_to(gradient, width_, places + row % positions_ * width_);
    }
  }

 private:
  std::int64_t token(const LayerOperands& operands, std::int64_t row) const {
    const std::int64_t token = operands.data[0][row];
    PENSTOCK_CHECK(token < vocabulary_,
                   "whoever loads the tokens refuses those beyond the vocabulary");
    return token;
  }

  std::int64_t samples_, positions_, width_, vocabulary_;
};

}  // namespace

KernelResult make_embedding(const KernelRequest& request) {
  const Layer& layer = request.layer;
  if (layer.output.dimensions.size() != 2 || layer.parameters.empty() ||
      layer.parameters[0].dimensions.size() != 2) {
    return fail(ErrorCode::BadInput,
                "layer \"" + layer.name +
                    "\": an embedding makes [T, width] from a table [vocabulary, width]");
  }
  const std::int64_t positions = layer.output.dimensions[0];
  const std::int64_t width = layer.output.dimensions[1];
  const std::int64_t vocabulary = layer.parameters[0].dimensions[0];
  PENSTOCK_TRY_VOID(expect_operands(request, 0, 1, {{vocabulary, width}, {positions, width}}));
  return std::make_unique<Embedding>(request.microbatch, positions, width, vocabulary);
}

}  // namespace penstock::cpu
