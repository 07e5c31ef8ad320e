#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// Σ (y - t)² / (samples of the global batch · n) over predictions y [n] and targets t = byte / 255
// in [0, 1]; rows_in_step counts samples here. A microbatch's squares are summed as doubles in
// memory order. Gradient: 2 (y - t) / (samples · n).

namespace penstock::cpu {
namespace {

PENSTOCK_INLINE float difference(float prediction, std::uint8_t target) {
  return prediction - static_cast<float>(target) / 255.0f;
}

PENSTOCK_CLONES void gradient_to(const float* __restrict predictions,
                                 const std::uint8_t* __restrict targets, float scale,
                                 std::int64_t n, bool accumulate, float* __restrict gradient) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i)
      gradient[i] += scale * difference(predictions[i], targets[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i)
      gradient[i] = scale * difference(predictions[i], targets[i]);
  }
}

class MeanSquared final : public LayerKernel {
 public:
  MeanSquared(std::int64_t elements, std::int64_t divisor)
      : elements_(elements), divisor_(static_cast<double>(divisor)) {}

  void forward(const LayerOperands& operands) override {
    double sum = 0;
    for (std::int64_t i = 0; i < elements_; ++i) {
      const double error = difference(operands.inputs[0][i], operands.data[0][i]);
      sum += error * error;
    }
    *operands.loss += sum / divisor_;
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    gradient_to(operands.inputs[0], operands.data[0], static_cast<float>(2.0 / divisor_), elements_,
                operands.accumulate_input_gradient, operands.input_gradients[0]);
  }

 private:
  std::int64_t elements_;
  double divisor_;
};

}  // namespace

KernelResult make_mean_squared(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 1, {}));
  const std::int64_t n = request.inputs[0].elements();
  return std::make_unique<MeanSquared>(request.microbatch * n, request.rows_in_step * n);
}

}  // namespace penstock::cpu
