#include <algorithm>
#include <cmath>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"
#include "exec/cpu/math/softmax.h"

// Mean over all rows of the global batch of -log p(target), p = softmax(logits), computed as
//   log Σ_j exp(x_j - max) - (x_target - max)
// A microbatch adds its own rows, summed in row order as doubles, divided by the rows of the step.
// The gradient of the logits is (p - [target]) / rows of the step.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void scale_to(const float* __restrict x, float scale, std::int64_t n,
                              bool accumulate, float* __restrict y) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += scale * x[i];
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = scale * x[i];
  }
}

class CrossEntropy final : public LayerKernel {
 public:
  CrossEntropy(std::int64_t rows, std::int64_t classes, std::int64_t rows_in_step)
      : rows_(rows), classes_(classes), rows_in_step_(rows_in_step) {}

  void forward(const LayerOperands& operands) override {
    double sum = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* logits = operands.inputs[0] + row * classes_;
      const SoftmaxRow parts = softmax(logits, classes_, operands.saved + row * classes_);
      const double relative = static_cast<double>(logits[target(operands, row)]) - parts.largest;
      sum += std::log(static_cast<double>(parts.total)) - relative;
    }
    if (operands.hits != nullptr) count(operands);
    *operands.loss += sum / static_cast<double>(rows_in_step_);
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    const float scale = 1.0f / static_cast<float>(rows_in_step_);
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* gradient = operands.input_gradients[0] + row * classes_;
      const std::int64_t hit = target(operands, row);
      const float* probabilities = operands.saved + row * classes_;
      const float before = operands.accumulate_input_gradient ? gradient[hit] : 0.0f;
      scale_to(probabilities, scale, classes_, operands.accumulate_input_gradient, gradient);
      gradient[hit] = before + scale * (probabilities[hit] - 1.0f);
    }
  }

 private:
  void count(const LayerOperands& operands) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* logits = operands.inputs[0] + row * classes_;
      operands.hits->right += std::max_element(logits, logits + classes_) - logits == target(operands, row) ? 1 : 0;
    }
    operands.hits->rows += rows_;
  }

  std::int64_t target(const LayerOperands& operands, std::int64_t row) const {
    const std::int64_t target = operands.data[0][row];
    PENSTOCK_CHECK(target < classes_, "whoever loads the targets refuses those beyond the classes");
    return target;
  }

  std::int64_t rows_, classes_, rows_in_step_;
};

}  // namespace

KernelResult make_cross_entropy(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 1, {}));
  const TensorShape& logits = request.inputs[0];
  return std::make_unique<CrossEntropy>(rows(logits, request.microbatch), features(logits),
                                        request.rows_in_step);
}

}  // namespace penstock::cpu
