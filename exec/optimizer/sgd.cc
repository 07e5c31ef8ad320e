#include "exec/optimizer/sgd.h"

namespace penstock {

void sgd(const SgdStep& step, std::size_t elements, float* __restrict weights, float* __restrict gradient,
         float* __restrict velocity) {
  const float rate = step.learning_rate;
  const float momentum = step.momentum;
  // A pass of its own: 0·w would turn a gradient of −0 into +0, and an infinite weight into NaN.
  if (const float decay = step.weight_decay; decay != 0) {
    for (std::size_t i = 0; i < elements; ++i) gradient[i] += decay * weights[i];
  }
  if (velocity == nullptr) {
    for (std::size_t i = 0; i < elements; ++i) {
      weights[i] -= rate * gradient[i];
      gradient[i] = 0;
    }
    return;
  }
  for (std::size_t i = 0; i < elements; ++i) {
    velocity[i] = momentum * velocity[i] + gradient[i];
    weights[i] -= rate * velocity[i];
    gradient[i] = 0;
  }
}

}  // namespace penstock
