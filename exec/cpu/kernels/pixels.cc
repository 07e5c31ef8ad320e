#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = byte / 127.5 - 1, in [-1, 1]. Data have no gradient.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void scale(const std::uint8_t* __restrict bytes, std::int64_t n,
                           float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(bytes[i]) / 127.5f - 1.0f;
}

class Pixels final : public LayerKernel {
 public:
  explicit Pixels(std::int64_t elements) : elements_(elements) {}

  void forward(const LayerOperands& operands) override {
    scale(operands.data[0], elements_, operands.output);
  }

  void backward_input(const LayerOperands&) override {}

 private:
  std::int64_t elements_;
};

}  // namespace

KernelResult make_pixels(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(expect_operands(request, 0, 1, {}));
  return std::make_unique<Pixels>(request.microbatch * request.layer.output.elements());
}

}  // namespace penstock::cpu
