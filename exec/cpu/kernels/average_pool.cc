#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = the mean of each plane, summed in lanes of doubles; dx = dy / pixels all over the plane.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES double plane_sum(const float* __restrict x, std::int64_t n) {
  return lane_sum<double>(n, [&](std::int64_t i) { return x[i]; });
}

PENSTOCK_CLONES void spread(float value, std::int64_t n, bool accumulate, float* __restrict to) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) to[i] += value;
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = value;
  }
}

class AveragePool final : public LayerKernel {
 public:
  AveragePool(std::int64_t planes, std::int64_t pixels) : planes_(planes), pixels_(pixels) {}

  void forward(const LayerOperands& operands) override {
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      const double sum = plane_sum(operands.inputs[0] + plane * pixels_, pixels_);
      operands.output[plane] = static_cast<float>(sum / static_cast<double>(pixels_));
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      spread(operands.output_gradient[plane] / static_cast<float>(pixels_), pixels_,
             operands.accumulate_input_gradient, operands.input_gradients[0] + plane * pixels_);
    }
  }

 private:
  std::int64_t planes_, pixels_;
};

}  // namespace

KernelResult make_average_pool(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  PENSTOCK_TRY(const Image in, image(request));
  PENSTOCK_TRY_VOID(expect_output(request, {in.channels}));
  return std::make_unique<AveragePool>(request.microbatch * in.channels, in.plane());
}

}  // namespace penstock::cpu
