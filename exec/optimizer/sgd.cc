#include "exec/optimizer/sgd.h"

namespace penstock {

void sgd(const SgdStep& step, std::size_t elements, float* __restrict weights, float* __restrict gradient,
         float* __restrict velocity) {
  const float rate = step.learning_rate;
  const float momentum = step.momentum;
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
