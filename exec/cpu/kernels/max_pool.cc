#include <algorithm>
#include <limits>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = the largest x of each window, of equal ones the first in row order; padding never wins, and a
// value that is not a number always does. saved: where it was, as an index into its plane (int32,
// one an output), which is less than to keep the input. dx of that place += dy, outputs in order.

namespace penstock::cpu {
namespace {

// One row of outputs against one tap of the window: output o < n meets x[o · stride], which is
// pixel `index` + o · stride of the plane.
PENSTOCK_INLINE void meet_all(const float* __restrict x, std::int64_t n, std::int64_t stride,
                              std::int32_t index, float* __restrict best,
                              std::int32_t* __restrict where) {
  const auto step = static_cast<std::int32_t>(stride);
  for (std::int64_t o = 0; o < n; ++o) {
    const float value = x[o * stride];
    const bool better = !(value <= best[o]) & (best[o] == best[o]);
    best[o] = better ? value : best[o];
    where[o] = better ? index + static_cast<std::int32_t>(o) * step : where[o];
  }
}

// The usual strides as constants, which the compiler vectorises.
PENSTOCK_CLONES void meet(const float* __restrict x, std::int64_t n, std::int64_t stride,
                          std::int32_t index, float* __restrict best,
                          std::int32_t* __restrict where) {
  if (stride == 1) return meet_all(x, n, 1, index, best, where);
  if (stride == 2) return meet_all(x, n, 2, index, best, where);
  meet_all(x, n, stride, index, best, where);
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
        if (begin >= end) continue;
        const std::int64_t at = row * in_.width + begin * window_.stride + shift;
        meet(x + at, end - begin, window_.stride, static_cast<std::int32_t>(at), best + begin,
             where + begin);
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
