#include "exec/cpu/math/softmax.h"

#include "exec/cpu/math/lanes.h"

namespace penstock::cpu {

PENSTOCK_CLONES SoftmaxRow softmax(const float* x, std::int64_t n, float* p) {
  const float largest = lane_max(x, n);
  for (std::int64_t i = 0; i < n; ++i) p[i] = exponential(x[i] - largest);
  const float total = lane_sum(n, [&](std::int64_t i) { return p[i]; });
  const float inverse = 1.0f / total;
  for (std::int64_t i = 0; i < n; ++i) p[i] *= inverse;
  return {largest, total};
}

PENSTOCK_CLONES void softmax_gradient(const float* __restrict p, std::int64_t n,
                                      float* __restrict d) {
  const float mean = lane_sum(n, [&](std::int64_t i) { return p[i] * d[i]; });
  for (std::int64_t i = 0; i < n; ++i) d[i] = p[i] * (d[i] - mean);
}

}  // namespace penstock::cpu
