#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// gelu(x) = x/2 · (1 + tanh u), u = sqrt(2/π) · (x + 0.044715 x³) (Hendrycks & Gimpel 2016). As
// tanh u = 2σ(2u) - 1, this is x · s with s = σ(2u) = 1/(1 + e), e = exp(-2u): one exponential, no
// cancellation near 0. Its derivative is s + x · s(1 - s) · 2u', and s(1 - s) = e·s·s without
// cancellation where s is near 1.

namespace penstock::cpu {
namespace {

constexpr float kTwiceRoot = 1.59576912f;  // 2 · sqrt(2/π)
constexpr float kCubic = 0.044715f;

PENSTOCK_CLONES void gelu(const float* __restrict x, std::int64_t n, float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float e = exponential(-kTwiceRoot * (x[i] + kCubic * (x[i] * x[i] * x[i])));
    y[i] = x[i] / (1.0f + e);
  }
}

PENSTOCK_INLINE float gelu_slope(float x) {
  const float square = x * x;
  const float e = exponential(-kTwiceRoot * (x + kCubic * (square * x)));
  const float s = 1.0f / (1.0f + e);
  const float slope_of_2u = kTwiceRoot * (1.0f + 3.0f * kCubic * square);
  return s + x * (e * s * s) * slope_of_2u;
}

PENSTOCK_CLONES void gelu_gradient(const float* __restrict x, const float* __restrict dy,
                                   std::int64_t n, bool accumulate, float* __restrict dx) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += dy[i] * gelu_slope(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * gelu_slope(x[i]);
  }
}

class Gelu final : public LayerKernel {
 public:
  explicit Gelu(std::int64_t elements) : elements_(elements) {}

  void forward(const LayerOperands& operands) override {
    gelu(operands.inputs[0], elements_, operands.output);
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    gelu_gradient(operands.inputs[0], operands.output_gradient, elements_,
                  operands.accumulate_input_gradient, operands.input_gradients[0]);
  }

 private:
  std::int64_t elements_;
};

}  // namespace

KernelResult make_gelu(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  return std::make_unique<Gelu>(request.microbatch * request.inputs[0].elements());
}

}  // namespace penstock::cpu
