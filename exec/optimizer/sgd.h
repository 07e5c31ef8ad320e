#pragma once

// Stochastic gradient descent with momentum: g ← g + λ·w;  v ← momentum·v + g;  w ← w − learning_rate·v;  g ← 0.
// Elementwise, so its bits depend on nothing but its operands.

#include <cstddef>

namespace penstock {

struct SgdStep {
  float learning_rate;
  float momentum;
  float weight_decay = 0;  // λ; with 0 the gradient is taken as it is
};

// `velocity` may be null where momentum is 0.
void sgd(const SgdStep& step, std::size_t elements, float* weights, float* gradient, float* velocity);

}  // namespace penstock
