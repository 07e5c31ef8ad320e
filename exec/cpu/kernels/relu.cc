#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = max(x, 0), and what is not a number stays that; dx = dy where x > 0, else 0.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void relu(const float* __restrict x, std::int64_t n, float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? 0.0f : x[i];
}

PENSTOCK_CLONES void relu_gradient(const float* __restrict x, const float* __restrict dy,
                                   std::int64_t n, bool accumulate, float* __restrict dx) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += x[i] > 0 ? dy[i] : 0.0f;
  } else {
    for (std::int64_t i = 0; i < n; ++i) dx[i] = x[i] > 0 ? dy[i] : 0.0f;
  }
}

class Relu final : public LayerKernel {
 public:
  explicit Relu(std::int64_t elements) : elements_(elements) {}

  void forward(const LayerOperands& operands) override {
    relu(operands.inputs[0], elements_, operands.output);
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    relu_gradient(operands.inputs[0], operands.output_gradient, elements_,
                  operands.accumulate_input_gradient, operands.input_gradients[0]);
  }

 private:
  std::int64_t elements_;
};

}  // namespace

KernelResult make_relu(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {}));
  PENSTOCK_TRY_VOID(expect_output(request, request.inputs[0].dimensions));
  return std::make_unique<Relu>(request.microbatch * request.inputs[0].elements());
}

}  // namespace penstock::cpu
