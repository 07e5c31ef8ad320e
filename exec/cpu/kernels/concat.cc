#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// The channels of the inputs, one input after another, in every sample; each takes its part of the
// gradient.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES void add_to(const float* __restrict x, std::int64_t n, float* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

class Concat final : public LayerKernel {
 public:
  // `sizes`: elements of a sample of each input.
  Concat(std::int64_t samples, std::vector<std::int64_t> sizes)
      : samples_(samples), sizes_(std::move(sizes)) {
    for (std::int64_t size : sizes_) whole_ += size;
  }

  void forward(const LayerOperands& operands) override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      for (std::int64_t s = 0; s < samples_; ++s) {
        std::copy_n(operands.inputs[i] + s * sizes_[i], sizes_[i],
                    operands.output + s * whole_ + begin);
      }
      begin += sizes_[i];
    }
  }

  void backward_input(const LayerOperands& operands) override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (operands.input_gradients[i] != nullptr) {
        for (std::int64_t s = 0; s < samples_; ++s) {
          pass(operands.output_gradient + s * whole_ + begin, sizes_[i],
               operands.accumulate_input_gradient, operands.input_gradients[i] + s * sizes_[i]);
        }
      }
      begin += sizes_[i];
    }
  }

 private:
  static void pass(const float* gradient, std::int64_t n, bool accumulate, float* to) {
    if (accumulate) {
      add_to(gradient, n, to);
    } else {
      std::copy_n(gradient, n, to);
    }
  }

  std::int64_t samples_;
  std::vector<std::int64_t> sizes_;
  std::int64_t whole_ = 0;
};

}  // namespace

KernelResult make_concat(const KernelRequest& request) {
  PENSTOCK_TRY_VOID(
      expect_operands(request, std::max<std::size_t>(request.inputs.size(), 2), 0, {}));
  PENSTOCK_TRY(const Image first, image(request));
  std::int64_t channels = 0;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    PENSTOCK_TRY(const Image in, image(request, i));
    if (in.height != first.height || in.width != first.width)
      return refuse(request, "joins images of different sizes");
    channels += in.channels;
    sizes.push_back(request.inputs[i].elements());
  }
  PENSTOCK_TRY_VOID(expect_output(request, {channels, first.height, first.width}));
  return std::make_unique<Concat>(request.microbatch, std::move(sizes));
}

}  // namespace penstock::cpu
