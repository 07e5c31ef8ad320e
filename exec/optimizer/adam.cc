#include "exec/optimizer/adam.h"

#include <cmath>

namespace penstock {

AdamStep AdamStep::of(const Optimizer& x, std::int64_t step) {
  const double rate = learning_rate_at(x, step);
  const auto t = static_cast<double>(step + 1);
  AdamStep out{.rate = static_cast<float>(rate / (1 - std::pow(x.beta1, t))),
               .root = static_cast<float>(1 / std::sqrt(1 - std::pow(x.beta2, t))),
               .beta1 = static_cast<float>(x.beta1), .rest1 = static_cast<float>(1 - x.beta1),
               .beta2 = static_cast<float>(x.beta2), .rest2 = static_cast<float>(1 - x.beta2),
               .epsilon = static_cast<float>(x.epsilon)};
  if (x.kind == OptimizerKind::AdamW) {
    out.shrink = static_cast<float>(rate * x.weight_decay);
  } else {
    out.added_decay = static_cast<float>(x.weight_decay);
  }
  return out;
}

void adam(const AdamStep& s, std::size_t elements, float* __restrict weights, float* __restrict gradient,
          float* __restrict first, float* __restrict second) {
  const AdamStep step = s;  // a copy that no write can change
  if (step.added_decay != 0) {
    for (std::size_t i = 0; i < elements; ++i) gradient[i] += step.added_decay * weights[i];
  }
  if (step.shrink != 0) {
    for (std::size_t i = 0; i < elements; ++i) weights[i] -= step.shrink * weights[i];
  }
  for (std::size_t i = 0; i < elements; ++i) {
    const float g = gradient[i];
    first[i] = step.beta1 * first[i] + step.rest1 * g;
    second[i] = step.beta2 * second[i] + step.rest2 * (g * g);
    weights[i] -= step.rate * first[i] / (std::sqrt(second[i]) * step.root + step.epsilon);
    gradient[i] = 0;
  }
}

}  // namespace penstock
