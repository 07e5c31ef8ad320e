#include <algorithm>
#include <limits>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = the largest x of each window, of equal ones the first in row order; padding never wins, and a
// value that is not a number always does. saved: where it was, as an index into its plane (int32,
// one an output), which is less than to keep the input. dx of that place += dy, outputs in order.

namespace penstock::cpu {
namespace {

// One row of outputs against one tap of the window, from output `begin` to before `end`: output o
// meets x[o · stride + shift]. `index` is that of x[0].
PENSTOCK_CLONES void meet(const float* __restrict x, std::int64_t begin, std::int64_t end,
                          std::int64_t stride, std::int64_t shift, std::int32_t index,
                          float* __restrict best, std::int32_t* __restrict where) {
  for (std::int64_t o = begin; o < end; ++o) {
    const float value = x[o * stride + shift];
    const bool better = !(value <= best[o]) & (best[o] == best[o]);
    best[o] = better ? value : best[o];
    where[o] = better ? index + static_cast<std::int32_t>(o * stride + shift) : where[o];
  }
}

class MaxPool final : public LayerKernel {
 public:
  MaxPool(std::int64_t planes, Image in, Window window)
      : planes_(planes),
        in_(in),
        window_(window),
        rows_(window.places(in.height)),
        columns_(window.places(in.width)) {}

  void forward(const LayerOperands& operands) override {
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      for (std::int64_t row = 0; row < rows_; ++row) {
        const std::int64_t at = (plane * rows_ + row) * columns_;
        pool_row(operands.inputs[0] + plane * in_.plane(), row * window_.stride - window_.padding,
                 operands.output + at, indices(operands) + at);
      }
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    const std::int64_t outputs = rows_ * columns_;
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      float* dx = operands.input_gradients[0] + plane * in_.plane();
      const float* dy = operands.output_gradient + plane * outputs;
      const std::int32_t* where = indices(operands) + plane * outputs;
      if (!operands.accumulate_input_gradient) std::fill_n(dx, in_.plane(), 0.0f);
      for (std::int64_t o = 0; o < outputs; ++o) dx[where[o]] += dy[o];
    }
  }

 private:
  static std::int32_t* indices(const LayerOperands& operands) {
    return reinterpret_cast<std::int32_t*>(operands.saved);
  }

  // The outputs whose windows begin in row `top` of the image, which may lie above it.
  void pool_row(const float* x, std::int64_t top, float* best, std::int32_t* where) const {
    const std::int64_t first = std::max<std::int64_t>(top, 0);
    const std::int64_t last = std::min(top + window_.kernel, in_.height);
    for (std::int64_t o = 0; o < columns_; ++o) {
      best[o] = -std::numeric_limits<float>::infinity();
      where[o] = static_cast<std::int32_t>(
          first * in_.width + std::max<std::int64_t>(o * window_.stride - window_.padding, 0));
    }
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t tap = 0; tap < window_.kernel; ++tap) {
        // Outputs whose pixel o · stride + shift is in [0, width).
        const std::int64_t shift = tap - window_.padding;
        const std::int64_t begin = shift < 0 ? (-shift + window_.stride - 1) / window_.stride : 0;
        const std::int64_t room = in_.width - 1 - shift;
        const std::int64_t end = room < 0 ? 0 : std::min(room / window_.stride + 1, columns_);
        meet(x + row * in_.width, begin, end, window_.stride, shift,
             static_cast<std::int32_t>(row * in_.width), best, where);
      }
    }
  }

  std::int64_t planes_;
  Image in_;
  Window window_;
  std::int64_t rows_, columns_;
};

}  // namespace

KernelResult make_max_pool(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  PENSTOCK_TRY(const Image in, image(request));
  PENSTOCK_TRY(const Window at, window(request, in));
  // Then every window holds a pixel of the image.
  if (at.padding >= at.kernel) return refuse(request, "its padding is not below its kernel");
  if (in.plane() > std::numeric_limits<std::int32_t>::max())
    return refuse(request, "an image of more than 2^31 pixels");
  PENSTOCK_TRY_VOID(
      expect_output(request, {in.channels, at.places(in.height), at.places(in.width)}));
  return std::make_unique<MaxPool>(request.microbatch * in.channels, in, at);
}

}  // namespace penstock::cpu
