#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// Each pixel becomes a square of factor · factor equal ones; its gradient is the sum over that
// square, row by row.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void widen(const float* __restrict x, std::int64_t n, std::int64_t factor,
                           float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < factor; ++j) y[i * factor + j] = x[i];
  }
}

class Upsample final : public LayerKernel {
 public:
  Upsample(std::int64_t rows, std::int64_t width, std::int64_t factor)
      : rows_(rows), width_(width), factor_(factor) {}

  void forward(const LayerOperands& operands) override {
    const std::int64_t wide = width_ * factor_;
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* first = operands.output + row * factor_ * wide;
      widen(operands.inputs[0] + row * width_, width_, factor_, first);
      for (std::int64_t i = 1; i < factor_; ++i) std::copy_n(first, wide, first + i * wide);
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    const std::int64_t wide = width_ * factor_;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* dy = operands.output_gradient + row * factor_ * wide;
      float* dx = operands.input_gradients[0] + row * width_;
      for (std::int64_t x = 0; x < width_; ++x) {
        float sum = 0;
        for (std::int64_t i = 0; i < factor_; ++i) {
          for (std::int64_t j = 0; j < factor_; ++j) sum += dy[i * wide + x * factor_ + j];
        }
        dx[x] = operands.accumulate_input_gradient ? dx[x] + sum : sum;
      }
    }
  }

 private:
  std::int64_t rows_, width_, factor_;
};

}  // namespace

KernelResult make_upsample(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  PENSTOCK_TRY(const Image in, image(request));
  PENSTOCK_TRY(const std::int64_t factor, attribute(request, "factor", 1));
  PENSTOCK_TRY_VOID(
      expect_output(request, {in.channels, factor * in.height, factor * in.width}));
  return std::make_unique<Upsample>(request.microbatch * in.channels * in.height, in.width, factor);
}

}  // namespace penstock::cpu
