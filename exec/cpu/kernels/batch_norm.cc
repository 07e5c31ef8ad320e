#include <cmath>

#include "exec/cpu/kernels/kernel_request.h"
#include "exec/cpu/math/lanes.h"

// y = h · gain + bias, h = (x - mean) · r, r = 1/sqrt(variance + 1e-5), each channel over the n =
// samples · height · width pixels of the microbatch (Ioffe & Szegedy 2015). With g = dy · gain:
//   dx = r · (g - mean(g) - h · mean(g · h))
//   dgain = Σ dy · h,  dbias = Σ dy
// Sums are of doubles: each plane in lanes, the planes of a channel in sample order.
// saved: mean [C], then the biased variance [C]; r is computed from its float wherever it is used.
// Running statistics change in no call: what a microbatch measured is added to their "gradients"
// (core/workload.h), so that forward can be repeated.

namespace penstock::cpu {
namespace {

constexpr float kEpsilon = 1e-5f;

PENSTOCK_CLONES double sum_of(const float* __restrict x, std::int64_t n) {
  return lane_sum<double>(n, [&](std::int64_t i) { return x[i]; });
}

PENSTOCK_CLONES double sum_of_squares(const float* __restrict x, double mean, std::int64_t n) {
  return lane_sum<double>(n, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
}

PENSTOCK_CLONES double sum_of_products(const float* __restrict x, const float* __restrict dy,
                                       double mean, std::int64_t n) {
  return lane_sum<double>(n, [&](std::int64_t i) { return (x[i] - mean) * dy[i]; });
}

PENSTOCK_CLONES void normalize(const float* __restrict x, float mean, float inverse, float gain,
                               float bias, std::int64_t n, float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * gain + bias;
}

struct ChannelGradient {
  float mean, inverse, scale;  // scale: gain · r
  float mean_dy, mean_dyh;     // mean(dy), mean(dy · h)
};

PENSTOCK_CLONES void input_gradient(const float* __restrict x, const float* __restrict dy,
                                    ChannelGradient c, std::int64_t n, bool accumulate,
                                    float* __restrict dx) {
  const auto gradient = [&](std::int64_t i) {
    const float h = (x[i] - c.mean) * c.inverse;
    return c.scale * (dy[i] - c.mean_dy - h * c.mean_dyh);
  };
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += gradient(i);
  } else {
    for (std::int64_t i = 0; i < n; ++i) dx[i] = gradient(i);
  }
}

float inverse_deviation(float variance) {
  return 1.0f / std::sqrt(variance + kEpsilon);
}

class BatchNorm final : public LayerKernel {
 public:
  BatchNorm(std::int64_t samples, Image image) : samples_(samples), image_(image) {}

  void forward(const LayerOperands& operands) override {
    const auto p = operands.parameters;
    for (std::int64_t c = 0; c < image_.channels; ++c) {
      float mean = p[2][c], variance = p[3][c];
      if (operands.training) {
        mean = operands.saved[c] = moment(operands, c);
        variance = operands.saved[image_.channels + c] = second_moment(operands, c, mean);
      }
      const float inverse = inverse_deviation(variance);
      for_each_plane(c, [&](std::int64_t at) {
        normalize(operands.inputs[0] + at, mean, inverse, p[0][c], p[1][c], image_.plane(),
                  operands.output + at);
      });
    }
  }

  void backward_input(const LayerOperands& operands) override {
    if (operands.input_gradients[0] == nullptr) return;
    for (std::int64_t c = 0; c < image_.channels; ++c) {
      const Sums sums = gradient_sums(operands, c);
      const float inverse = inverse_deviation(operands.saved[image_.channels + c]);
      const ChannelGradient channel{.mean = operands.saved[c],
                                    .inverse = inverse,
                                    .scale = operands.parameters[0][c] * inverse,
                                    .mean_dy = static_cast<float>(sums.dy / pixels()),
                                    .mean_dyh = static_cast<float>(sums.dyh / pixels())};
      for_each_plane(c, [&](std::int64_t at) {
        input_gradient(operands.inputs[0] + at, operands.output_gradient + at, channel,
                       image_.plane(), operands.accumulate_input_gradient,
                       operands.input_gradients[0] + at);
      });
    }
  }

  void backward_weight(const LayerOperands& operands) override {
    const auto gradient = operands.parameter_gradients;
    const double unbiased = pixels() > 1 ? pixels() / (pixels() - 1) : 1.0;
    for (std::int64_t c = 0; c < image_.channels; ++c) {
      const Sums sums = gradient_sums(operands, c);
      gradient[0][c] += static_cast<float>(sums.dyh);
      gradient[1][c] += static_cast<float>(sums.dy);
      const auto variance =
          static_cast<float>(operands.saved[image_.channels + c] * unbiased);
      gradient[2][c] += operands.statistic_weight * operands.saved[c];
      gradient[3][c] += operands.statistic_weight * variance;
    }
  }

 private:
  struct Sums {
    double dy, dyh;
  };

  double pixels() const { return static_cast<double>(samples_ * image_.plane()); }

  // `call` with the offset of each plane of channel c, in sample order.
  template <class Call>
  void for_each_plane(std::int64_t c, Call call) const {
    for (std::int64_t s = 0; s < samples_; ++s) call((s * image_.channels + c) * image_.plane());
  }

  float moment(const LayerOperands& operands, std::int64_t c) const {
    double sum = 0;
    for_each_plane(
        c, [&](std::int64_t at) { sum += sum_of(operands.inputs[0] + at, image_.plane()); });
    return static_cast<float>(sum / pixels());
  }

  float second_moment(const LayerOperands& operands, std::int64_t c, double mean) const {
    double sum = 0;
    for_each_plane(c, [&](std::int64_t at) {
      sum += sum_of_squares(operands.inputs[0] + at, mean, image_.plane());
    });
    return static_cast<float>(sum / pixels());
  }

  Sums gradient_sums(const LayerOperands& operands, std::int64_t c) const {
    Sums sums{0, 0};
    for_each_plane(c, [&](std::int64_t at) {
      const float* dy = operands.output_gradient + at;
      sums.dy += sum_of(dy, image_.plane());
      sums.dyh += sum_of_products(operands.inputs[0] + at, dy, operands.saved[c], image_.plane());
    });
    sums.dyh *= inverse_deviation(operands.saved[image_.channels + c]);
    return sums;
  }

  std::int64_t samples_;
  Image image_;
};

}  // namespace

KernelResult make_batch_norm(const KernelRequest& request) {
  PENSTOCK_TRY(const Image in, image(request));
  const std::vector<std::int64_t> each{in.channels};
  PENSTOCK_TRY_VOID(expect_operands(request, 1, 0, {each, each, each, each}));
  PENSTOCK_TRY_VOID(expect_output(request, request.inputs[0].dimensions));
  return std::make_unique<BatchNorm>(request.microbatch, in);
}

}  // namespace penstock::cpu
