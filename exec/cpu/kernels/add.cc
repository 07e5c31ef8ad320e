#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = a + b; dy passes to both inputs unchanged. An input gradient may be the buffer of the output
// gradient itself (then there is nothing to copy), and both may be one buffer (the same producer
// twice): the second is then added to the first.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void add(const float* __restrict a, const float* __restrict b, std::int64_t n,
                         float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

// x and sum may be the same array: element i depends on element i alone.
PENSTOCK_CLONES void add_to(const float* x, std::int64_t n, float* sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

class Add final : public LayerKernel {
 public:
  explicit Add(std::int64_t elements) : elements_(elements) {}

  void forward(const LayerOperands& operands) override {
    add(operands.inputs[0], operands.inputs[1], elements_, operands.output);
  }

  void backward_input(const LayerOperands& operands) override {
    const float* gradient = operands.output_gradient;
    float* first = operands.input_gradients[0];
    float* second = operands.input_gradients[1];
    pass(gradient, first, operands.accumulate_input_gradient);
    pass(gradient, second, operands.accumulate_input_gradient || second == first);
  }

 private:
  void pass(const float* gradient, float* to, bool accumulate) const {
    if (to == nullptr) return;
    if (accumulate) {
      add_to(gradient, elements_, to);
    } else if (to != gradient) {
      std::copy_n(gradient, elements_, to);
    }
  }

  std::int64_t elements_;
};

}  // namespace

KernelResult make_add(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 2, 0, {}));
  if (request.inputs[0] != request.inputs[1]) {
    return fail(ErrorCode::BadInput,
                "layer \"" + request.layer.name + "\": adds two inputs of different shapes");
  }
  return std::make_unique<Add>(request.microbatch * request.inputs[0].elements());
}

}  // namespace penstock::cpu
