#include "exec/optimizer/gradient_norm.h"

#include <algorithm>
#include <cmath>

namespace penstock {

double squared_norm(const float* gradient, std::size_t elements) {
  constexpr std::size_t kLanes = 8;
  double lane[kLanes] = {};
  const std::size_t whole = elements / kLanes * kLanes;
  const auto square = [&](std::size_t i) {
    const auto g = static_cast<double>(gradient[i]);
    return g * g;
  };
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += square(i + l);
  }
  for (std::size_t i = whole; i < elements; ++i) lane[i - whole] += square(i);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

double global_norm(std::span<const double> squares) {
  double sum = 0;
  for (const double square : squares) sum += square;
  return std::sqrt(sum);
}

float clip_factor(double norm, double clip) { return static_cast<float>(std::min(1.0, clip / (norm + 1e-6))); }

void scale_gradient(float factor, std::size_t elements, float* gradient) {
  if (factor == 1.0f) return;
  for (std::size_t i = 0; i < elements; ++i) gradient[i] *= factor;
}

}  // namespace penstock
