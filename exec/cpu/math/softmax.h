#pragma once

#include <cstdint>

namespace penstock::cpu {

struct SoftmaxRow {
  float largest, total;  // p_i = exp(x_i - largest) / total
};

// p = softmax(x) over n >= 1 elements; x and p may be the same array. Sums in lane order (lanes.h).
SoftmaxRow softmax(const float* x, std::int64_t n, float* p);

// The gradient of the arguments from that of the probabilities, in place:
// d_i <- p_i · (d_i - Σ_j p_j d_j).
void softmax_gradient(const float* p, std::int64_t n, float* d);

}  // namespace penstock::cpu
