#include <vector>

#include "core/footprint.h"
#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/bf16.h"

// A layer whose activations are stored as bf16: around its f32 kernel, what it reads is widened and
// what it writes is rounded. Gradients of activations are stored like the activations, and are
// rounded after each contribution that is added; what forward saves, parameters and their gradients
// stay f32.
//
// Workspace: the kernel's own, then f32 copies of the inputs, of the inputs' gradients, and of the
// output, which serves its gradient too (widened_bytes of core/footprint).

namespace penstock::cpu {
namespace {

bool is_bf16(const TensorShape& shape) {
  return shape.type == DataType::BF16;
}

class StoredBf16 final : public LayerKernel {
 public:
  StoredBf16(const KernelRequest& request, bool reads_inputs_again)
      : layer_(request.layer),
        output_is_bf16_(is_bf16(request.layer.output)),
        reads_inputs_again_(reads_inputs_again) {
    for (const TensorShape& shape : request.inputs) {
      input_is_bf16_.push_back(is_bf16(shape));
      elements_.push_back(request.microbatch * shape.elements());
      shapes_.push_back(shape);
      shapes_.back().type = DataType::F32;
    }
    layer_.output.type = DataType::F32;
    output_elements_ = request.microbatch * layer_.output.elements();
    widened_ = widened_bytes(request.layer, request.inputs, request.microbatch);
    inputs_.resize(elements_.size());
    gradients_.resize(elements_.size());
  }

  Result<void> build(std::int64_t microbatch, std::int64_t rows_in_step) {
    PENSTOCK_TRY(kernel_, make_kernel(layer_, shapes_, microbatch, rows_in_step));
    return {};
  }

  Bytes workspace_bytes() const override { return own() + widened_; }

  void forward(const LayerOperands& operands) override {
    LayerOperands wide = widened(operands, true);
    if (operands.output != nullptr && output_is_bf16_) wide.output = output_;
    kernel_->forward(wide);
    if (operands.output != nullptr && output_is_bf16_)
      round_to_bf16(output_, output_elements_, stored(operands.output));
  }

  void backward_input(const LayerOperands& operands) override {
    LayerOperands wide = widened(operands, reads_inputs_again_);
    widen_output_gradient(operands, wide);
    float* copy = gradient_copies_;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      float* const to = operands.input_gradients[i];
      gradients_[i] = to;
      if (to != nullptr && input_is_bf16_[i]) {
        gradients_[i] = copy;
        for (std::size_t j = 0; j < i; ++j)  // the same producer twice: one sum
          if (operands.input_gradients[j] == to) gradients_[i] = gradients_[j];
        if (gradients_[i] == copy && operands.accumulate_input_gradient)
          widen(stored(to), elements_[i], copy);
      }
      copy += padded(elements_[i]);
    }
    wide.input_gradients = gradients_;
    kernel_->backward_input(wide);
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (operands.input_gradients[i] != nullptr && input_is_bf16_[i])
        round_to_bf16(gradients_[i], elements_[i], stored(operands.input_gradients[i]));
  }

  void backward_weight(const LayerOperands& operands) override {
    LayerOperands wide = widened(operands, reads_inputs_again_);
    widen_output_gradient(operands, wide);
    kernel_->backward_weight(wide);
  }

 private:
  Bytes own() const { return align_up(kernel_->workspace_bytes(), kTensorAlignment); }
  static std::int64_t padded(std::int64_t elements) {
    return align_up(Bytes(4 * elements), kTensorAlignment).value / 4;
  }
  static std::uint16_t* stored(float* p) { return reinterpret_cast<std::uint16_t*>(p); }
  static const std::uint16_t* stored(const float* p) {
    return reinterpret_cast<const std::uint16_t*>(p);
  }

  // The operands with f32 copies of the inputs, where the kernel reads them.
  LayerOperands widened(const LayerOperands& operands, bool reads_inputs) {
    LayerOperands wide = operands;
    auto* copy = reinterpret_cast<float*>(operands.workspace + own().value);
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      inputs_[i] = operands.inputs[i];
      if (reads_inputs && input_is_bf16_[i]) {
        widen(stored(operands.inputs[i]), elements_[i], copy);
        inputs_[i] = copy;
      }
      copy += padded(elements_[i]);
    }
    wide.inputs = inputs_;
    gradient_copies_ = copy;
    for (const std::int64_t elements : elements_) copy += padded(elements);
    output_ = copy;
    return wide;
  }

  void widen_output_gradient(const LayerOperands& operands, LayerOperands& wide) {
    if (operands.output_gradient == nullptr || !output_is_bf16_) return;
    widen(stored(operands.output_gradient), output_elements_, output_);
    wide.output_gradient = output_;
  }

  Layer layer_;  // as the kernel sees it: f32
  std::vector<TensorShape> shapes_;
  std::unique_ptr<LayerKernel> kernel_;
  std::vector<bool> input_is_bf16_;
  std::vector<std::int64_t> elements_;  // of the inputs, of a microbatch
  bool output_is_bf16_, reads_inputs_again_;
  std::int64_t output_elements_ = 0;
  Bytes widened_;
  // Of the call at hand.
  std::vector<const float*> inputs_;
  std::vector<float*> gradients_;
  float* gradient_copies_ = nullptr;
  float* output_ = nullptr;
};

}  // namespace

KernelResult make_stored_bf16(const KernelRequest& request) {
  const bool again = backward_needs(request.layer, request.inputs, request.microbatch).inputs;
  auto kernel = std::make_unique<StoredBf16>(request, again);
  PENSTOCK_TRY_VOID(kernel->build(request.microbatch, request.rows_in_step));
  return kernel;
}

}  // namespace penstock::cpu
