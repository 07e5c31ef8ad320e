#pragma once

// Stochastic gradient descent with momentum: v ← momentum·v + g;  w ← w − learning_rate·v;  g ← 0. Elementwise, so its bits
// depend on nothing but its operands.

#include <cstddef>

namespace penstock {

struct SgdStep {
  float learning_rate;
  float momentum;
};

// `velocity` may be null where momentum is 0.
void sgd(const SgdStep& step, std::size_t elements, float* weights, float* gradient, float* velocity);

}  // namespace penstock
