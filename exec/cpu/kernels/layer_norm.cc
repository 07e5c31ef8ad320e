#include <cmath>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = h · gain + bias along each row, h = (x - mean) · r, r = 1/sqrt(variance + 1e-5) (Ba et al.
// 2016). With g = dy · gain:
//   dx = r · (g - mean(g) - h · mean(g · h))
//   dgain = Σ_rows dy · h,  dbias = Σ_rows dy, added row by row
// saved: the means of all rows, then r of all rows.

namespace penstock::cpu {
namespace {

constexpr float kEpsilon = 1e-5f;

struct RowMoments {
  float mean, inverse_deviation;
};

PENSTOCK_CLONES RowMoments normalize(const float* __restrict x, const float* __restrict gain,
                                     const float* __restrict bias, std::int64_t n,
                                     float* __restrict y) {
  const float size = static_cast<float>(n);
  const float mean = lane_sum(n, [&](std::int64_t i) { return x[i]; }) / size;
  const float variance =
      lane_sum(n, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / size;
  const float inverse = 1.0f / std::sqrt(variance + kEpsilon);
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * gain[i] + bias[i];
  return {mean, inverse};
}

PENSTOCK_CLONES void input_gradient(const float* __restrict x, const float* __restrict dy,
                                    const float* __restrict gain, RowMoments row, std::int64_t n,
                                    bool accumulate, float* __restrict dx) {
  const float size = static_cast<float>(n);
  const auto normal = [&](std::int64_t i) { return (x[i] - row.mean) * row.inverse_deviation; };
  const float mean_g = lane_sum(n, [&](std::int64_t i) { return dy[i] * gain[i]; }) / size;
  const float mean_gh =
      lane_sum(n, [&](std::int64_t i) { return dy[i] * gain[i] * normal(i); }) / size;
  const auto gradient = [&](std::int64_t i) {
    return row.inverse_deviation * (dy[i] * gain[i] - mean_g - normal(i) * mean_gh);
  };
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += gradient(i);
  } else {
    for (std::int64_t i = 0; i < n; ++i) dx[i] = gradient(i);
  }
}

PENSTOCK_CLONES void parameter_gradients(const float* __restrict x, const float* __restrict dy,
                                         RowMoments row, std::int64_t n, float* __restrict dgain,
                                         float* __restrict dbias) {
  for (std::int64_t i = 0; i < n; ++i) {
    dgain[i] += dy[i] * ((x[i] - row.mean) * row.inverse_deviation);
    dbias[i] += dy[i];
  }
}

class LayerNorm final : public LayerKernel {
 public:
  LayerNorm(std::int64_t rows, std::int64_t width) : rows_(rows), width_(width) {}

  void forward(const LayerOperands& operands) override {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const RowMoments moments =
          normalize(operands.inputs[0] + row * width_, operands.parameters[0],
                    operands.parameters[1], width_, operands.output + row * width_);
      operands.saved[row] = moments.mean;
      operands.saved[rows_ + row] = moments.inverse_deviation;
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    for (std::int64_t row = 0; row < rows_; ++row) {
      input_gradient(operands.inputs[0] + row * width_, operands.output_gradient + row * width_,
                     operands.parameters[0], moments(operands, row), width_,
                     operands.accumulate_input_gradient,
                     operands.input_gradients[0] + row * width_);
    }
  }

  void backward_weight(const LayerOperands& operands) override {
    for (std::int64_t row = 0; row < rows_; ++row) {
      parameter_gradients(operands.inputs[0] + row * width_,
                          operands.output_gradient + row * width_, moments(operands, row), width_,
                          operands.parameter_gradients[0], operands.parameter_gradients[1]);
    }
  }

 private:
  RowMoments moments(const LayerOperands& operands, std::int64_t row) const {
    return {operands.saved[row], operands.saved[rows_ + row]};
  }

  std::int64_t rows_, width_;
};

}  // namespace

KernelResult make_layer_norm(const KernelRequest& request) {
  const std::int64_t width = features(request.layer.output);
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {{width}, {width}}));
  return std::make_unique<LayerNorm>(rows(request.inputs[0], request.microbatch), width);
}

}  // namespace penstock::cpu
