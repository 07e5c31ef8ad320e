#include <algorithm>
#include <array>
#include <cmath>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"
#include "exec/cpu/math/matmul.h"
#include "exec/cpu/math/softmax.h"

// Causal attention (Vaswani et al. 2017), one head of one sample at a time, so that its matrices
// stay in the L2 cache. A token's row is q | k | v, each [heads, d] with d = width / heads. Per
// head, with q scaled by 1/sqrt(d) while packed:
//   S = q·kᵀ       P = softmax of S's lower triangle, exactly 0 above it; kept     O = P·v
//   dP = dO·vᵀ     dS = P ∘ (dP - Σ P∘dP)
//   dq = dS·k / sqrt(d)     dk = dSᵀ·q     dv = Pᵀ·dO
// Heads are packed to dense [T, d] matrices: oneDNN's fast kernels take no gaps between rows, and
// the copies cost a few per cent of the products.

namespace penstock::cpu {
namespace {

struct AttentionShape {
  std::int64_t samples, tokens, heads, depth;

  std::int64_t width() const { return heads * depth; }
};

// Where a head's matrices lie in the workspace; each starts on its own 64-byte boundary.
class Workspace {
 public:
  std::int64_t reserve(Bytes size) {
    const std::int64_t at = end_.value;
    end_ += align_up(size, kTensorAlignment);
    return at;
  }
  Bytes size() const { return end_; }

 private:
  Bytes end_{0};
};

PENSTOCK_CLONES void pack(const float* __restrict from, std::int64_t from_stride, std::int64_t rows,
                          std::int64_t depth, float scale, float* __restrict to) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t i = 0; i < depth; ++i) to[t * depth + i] = scale * from[t * from_stride + i];
  }
}

PENSTOCK_CLONES void unpack(const float* __restrict from, std::int64_t rows, std::int64_t depth,
                            float scale, bool accumulate, float* __restrict to,
                            std::int64_t to_stride) {
  for (std::int64_t t = 0; t < rows; ++t) {
    float* __restrict row = to + t * to_stride;
    if (accumulate) {
      for (std::int64_t i = 0; i < depth; ++i) row[i] += scale * from[t * depth + i];
    } else {
      for (std::int64_t i = 0; i < depth; ++i) row[i] = scale * from[t * depth + i];
    }
  }
}

struct Products {
  Matmul scores;    // [T, d]·[T, d]ᵀ: q·kᵀ and dO·vᵀ
  Matmul mix;       // [T, T]·[T, d]: P·v and dS·k
  Matmul mix_back;  // [T, T]ᵀ·[T, d]: dSᵀ·q and Pᵀ·dO
};

class Attention final : public LayerKernel {
 public:
  Attention(AttentionShape shape, Products products)
      : shape_(shape),
        products_(std::move(products)),
        scale_(1.0f / std::sqrt(static_cast<float>(shape.depth))) {
    Workspace layout;
    const Bytes packed(shape.tokens * shape.depth * static_cast<std::int64_t>(sizeof(float)));
    for (std::int64_t& at : packed_at_) at = layout.reserve(packed);
    square_at_ = layout.reserve(
        Bytes(shape.tokens * shape.tokens * static_cast<std::int64_t>(sizeof(float))));
    scratch_at_ =
        layout.reserve(std::max({products_.scores.scratch_bytes(), products_.mix.scratch_bytes(),
                                 products_.mix_back.scratch_bytes()}));
    workspace_bytes_ = layout.size();
  }

  void forward(const LayerOperands& operands) override {
    const auto [tokens, width] = std::pair(shape_.tokens, shape_.width());
    float* out = matrix(operands, packed_at_[kOut]);
    for (std::int64_t head = 0; head < shape_.samples * shape_.heads; ++head) {
      float* probabilities = operands.saved + head * tokens * tokens;
      pack_head(operands, head);
      products_.scores.run(matrix(operands, packed_at_[kQ]), matrix(operands, packed_at_[kK]),
                           nullptr, probabilities, operands.workspace + scratch_at_);
      for (std::int64_t t = 0; t < tokens; ++t) {
        float* row = probabilities + t * tokens;
        softmax(row, t + 1, row);
        std::fill(row + t + 1, row + tokens, 0.0f);
      }
      products_.mix.run(probabilities, matrix(operands, packed_at_[kV]), nullptr, out,
                        operands.workspace + scratch_at_);
      unpack(out, tokens, shape_.depth, 1.0f, false, operands.output + offset(head, width), width);
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    const auto [tokens, depth, width] = std::tuple(shape_.tokens, shape_.depth, shape_.width());
    const float* q = matrix(operands, packed_at_[kQ]);
    const float* k = matrix(operands, packed_at_[kK]);
    const float* v = matrix(operands, packed_at_[kV]);
    float* out_gradient = matrix(operands, packed_at_[kOutGradient]);
    float* result = matrix(operands, packed_at_[kOut]);
    float* scores_gradient = matrix(operands, square_at_);
    std::byte* scratch = operands.workspace + scratch_at_;
    for (std::int64_t head = 0; head < shape_.samples * shape_.heads; ++head) {
      const float* probabilities = operands.saved + head * tokens * tokens;
      float* gradient = operands.input_gradients[0] + offset(head, 3 * width);
      const auto store = [&](float scale, std::int64_t part) {
        unpack(result, tokens, depth, scale, operands.accumulate_input_gradient,
               gradient + part * width, 3 * width);
      };
      pack_head(operands, head);
      pack(operands.output_gradient + offset(head, width), width, tokens, depth, 1.0f,
           out_gradient);

      products_.mix_back.run(probabilities, out_gradient, nullptr, result, scratch);
      store(1.0f, 2);  // dv
      products_.scores.run(out_gradient, v, nullptr, scores_gradient, scratch);
      for (std::int64_t t = 0; t < tokens; ++t) {
        float* row = scores_gradient + t * tokens;
        softmax_gradient(probabilities + t * tokens, t + 1, row);
        std::fill(row + t + 1, row + tokens, 0.0f);
      }
      products_.mix.run(scores_gradient, k, nullptr, result, scratch);
      store(scale_, 0);  // dq
      products_.mix_back.run(scores_gradient, q, nullptr, result, scratch);
      store(1.0f, 1);  // dk: q is packed with its scale
    }
  }

  Bytes workspace_bytes() const override { return workspace_bytes_; }

 private:
  enum Packed { kQ, kK, kV, kOut, kOutGradient, kPackedCount };

  static float* matrix(const LayerOperands& operands, std::int64_t at) {
    return reinterpret_cast<float*>(operands.workspace + at);
  }

  // Of head (sample, h), counted sample by sample, in a tensor [samples, T, stride]: its first
  // element.
  std::int64_t offset(std::int64_t head, std::int64_t stride) const {
    return head / shape_.heads * shape_.tokens * stride + head % shape_.heads * shape_.depth;
  }

  void pack_head(const LayerOperands& operands, std::int64_t head) const {
    const std::int64_t width = shape_.width();
    const float* q = operands.inputs[0] + offset(head, 3 * width);
    pack(q, 3 * width, shape_.tokens, shape_.depth, scale_, matrix(operands, packed_at_[kQ]));
    pack(q + width, 3 * width, shape_.tokens, shape_.depth, 1.0f, matrix(operands, packed_at_[kK]));
    pack(q + 2 * width, 3 * width, shape_.tokens, shape_.depth, 1.0f,
         matrix(operands, packed_at_[kV]));
  }

  AttentionShape shape_;
  Products products_;
  float scale_;
  std::array<std::int64_t, kPackedCount> packed_at_{};
  std::int64_t square_at_ = 0, scratch_at_ = 0;
  Bytes workspace_bytes_;
};

}  // namespace

KernelResult make_attention(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  const TensorShape& input = request.inputs[0];
  const std::int64_t heads = request.layer.attribute("heads");
  if (input.dimensions.size() != 2 || heads < 1 || features(input) % (3 * heads) != 0) {
    return fail(ErrorCode::BadInput,
                "layer \"" + request.layer.name +
                    "\": attention takes [T, 3·width] with width a multiple of heads");
  }
  const AttentionShape shape{.samples = request.microbatch,
                             .tokens = input.dimensions[0],
                             .heads = heads,
                             .depth = features(input) / (3 * heads)};
  const std::int64_t t = shape.tokens, d = shape.depth;
  Products products;
  PENSTOCK_TRY(products.scores, Matmul::prepare({.rows = t,
                                                 .columns = t,
                                                 .inner = d,
                                                 .a = row_major(d),
                                                 .b = column_major(d),
                                                 .c = row_major(t)}));
  PENSTOCK_TRY(products.mix, Matmul::prepare({.rows = t,
                                              .columns = d,
                                              .inner = t,
                                              .a = row_major(t),
                                              .b = row_major(d),
                                              .c = row_major(d)}));
  PENSTOCK_TRY(products.mix_back, Matmul::prepare({.rows = t,
                                                   .columns = d,
                                                   .inner = t,
                                                   .a = column_major(t),
                                                   .b = row_major(d),
                                                   .c = row_major(d)}));
  return std::make_unique<Attention>(shape, std::move(products));
}

}  // namespace penstock::cpu
