#include <algorithm>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/convolution.h"
#include "exec/cpu/math/lanes.h"

// y = x * w (+ bias), see exec/cpu/math/convolution.h, w [K, C, kernel, kernel]; the batch is the
// microbatch. dw is computed in the workspace and added, so that what is there before has no part in
// the order of its sums. dbias[k] += Σ dy[., k, ., .]: planes as doubles, added in sample order.

namespace penstock::cpu {
namespace {

PENSTOCK_CLONES double plane_sum(const float* __restrict x, std::int64_t n) {
  return lane_sum<double>(n, [&](std::int64_t i) { return x[i]; });
}

struct Passes {
  Convolution forward, input_gradient, weight_gradient;
};

class Conv2d final : public LayerKernel {
 public:
  Conv2d(std::int64_t samples, Image output, Passes passes)
      : samples_(samples), output_(output), passes_(std::move(passes)) {}

  void forward(const LayerOperands& operands) override {
    const float* bias = operands.parameters.size() > 1 ? operands.parameters[1] : nullptr;
    passes_.forward.run(operands.inputs[0], operands.parameters[0], bias, false, operands.output,
                        operands.workspace);
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    passes_.input_gradient.run(operands.output_gradient, operands.parameters[0], nullptr,
                               operands.accumulate_input_gradient, operands.input_gradients[0],
                               operands.workspace);
  }

  void backward_weight(const LayerOperands& operands) override {
    passes_.weight_gradient.run(operands.inputs[0], operands.output_gradient, nullptr, true,
                                operands.parameter_gradients[0], operands.workspace);
    if (operands.parameter_gradients.size() < 2) return;
    for (std::int64_t k = 0; k < output_.channels; ++k) {
      double sum = 0;
      for (std::int64_t s = 0; s < samples_; ++s) {
        const std::int64_t plane = s * output_.channels + k;
        sum += plane_sum(operands.output_gradient + plane * output_.plane(), output_.plane());
      }
      operands.parameter_gradients[1][k] += static_cast<float>(sum);
    }
  }

  Bytes workspace_bytes() const override {
    return std::max({passes_.forward.workspace_bytes(), passes_.input_gradient.workspace_bytes(),
                     passes_.weight_gradient.workspace_bytes()});
  }

 private:
  std::int64_t samples_;
  Image output_;
  Passes passes_;
};

}  // namespace

KernelResult make_conv2d(const KernelRequest& request) {
  PENSTOCK_TRY(const Image in, image(request));
  PENSTOCK_TRY(const Window at, window(request, in));
  const std::vector<std::int64_t>& made = request.layer.output.dimensions;
  const std::int64_t outputs = made.empty() ? 1 : made[0];
  const Image out{outputs, at.places(in.height), at.places(in.width)};
  PENSTOCK_TRY_VOID(expect_output(request, {out.channels, out.height, out.width}));
  const std::vector<std::int64_t> weight{outputs, in.channels, at.kernel, at.kernel};
  const bool bias = request.layer.parameters.size() > 1;
  if (bias) {
    PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {weight, {outputs}}));
  } else {
    PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {weight}));
  }

  ConvolutionSpec spec{.samples = request.microbatch,
                       .channels = in.channels,
                       .height = in.height,
                       .width = in.width,
                       .outputs = outputs,
                       .kernel = at.kernel,
                       .stride = at.stride,
                       .padding = at.padding,
                       .bias = bias};
  Passes passes;
  PENSTOCK_TRY(passes.forward, Convolution::prepare(spec));
  spec.pass = ConvolutionPass::InputGradient;
  PENSTOCK_TRY(passes.input_gradient, Convolution::prepare(spec));
  spec.pass = ConvolutionPass::WeightGradient;
  PENSTOCK_TRY(passes.weight_gradient, Convolution::prepare(spec));
  return std::make_unique<Conv2d>(request.microbatch, out, std::move(passes));
}

}  // namespace penstock::cpu
