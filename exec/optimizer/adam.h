#pragma once

// Adam (Kingma & Ba 2015, algorithm 1) and, with its weight decay decoupled from the gradient, AdamW (Loshchilov & Hutter
// 2019, algorithm 2). Elementwise: bits depend on nothing but the operands, only IEEE +, ·, /, √ are used, never contracted.
//
//   Adam    g ← g + λ·w                       AdamW   w ← w − (learning_rate·λ)·w
//   both    m ← β1·m + (1−β1)·g;  v ← β2·v + (1−β2)·g·g;  w ← w − rate·m / (√v·root + ε);  g ← 0
//
// The bias corrections of step t = step + 1 are folded into two numbers: rate = learning_rate/(1−β1^t), root = 1/√(1−β2^t).

#include <cstddef>
#include <cstdint>

#include "core/optimizer.h"

namespace penstock {

struct AdamStep {
  float rate, root;
  float beta1, rest1;  // β1, 1 − β1, each rounded by itself
  float beta2, rest2;
  float epsilon;
  float added_decay = 0;  // λ, of Adam
  float shrink = 0;       // learning_rate·λ, of AdamW

  // Of step `step`, from 0, in all of training. Worked out in double.
  static AdamStep of(const Optimizer& optimizer, std::int64_t step);
};

void adam(const AdamStep& step, std::size_t elements, float* weights, float* gradient, float* first, float* second);

}  // namespace penstock
