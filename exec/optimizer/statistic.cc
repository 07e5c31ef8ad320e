#include "exec/optimizer/statistic.h"

#include "core/workload.h"

namespace penstock {
namespace {

double power(double base, std::int64_t exponent) {
  double out = 1;
  for (std::int64_t i = 0; i < exponent; ++i) out *= base;
  return out;
}

}  // namespace

float statistic_weight(std::int64_t microbatch, std::int64_t microbatches) {
  return static_cast<float>(kStatisticMomentum * power(1 - kStatisticMomentum, microbatches - 1 - microbatch));
}

float statistic_decay(std::int64_t microbatches) { return static_cast<float>(power(1 - kStatisticMomentum, microbatches)); }

void update_statistic(float decay, std::size_t elements, float* __restrict value, float* __restrict gradient) {
  for (std::size_t i = 0; i < elements; ++i) {
    value[i] = value[i] * decay + gradient[i];
    gradient[i] = 0;
  }
}

}  // namespace penstock
