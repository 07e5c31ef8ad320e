#pragma once

// Parameters of role Statistic (core/workload.h): running averages of what microbatches measure. Each microbatch m of M adds
// c_m times its measure to the "gradient"; the step ends with value ← value·(1−μ)^M + gradient. That is what
// value ← (1−μ)·value + μ·measure does for one microbatch after the other:
//   M = 2: value·(1−μ)² + μ·(1−μ)·measure_0 + μ·measure_1

#include <cstddef>
#include <cstdint>

namespace penstock {

// c_m = μ·(1−μ)^(M−1−m), and (1−μ)^M. Products taken from left to right.
float statistic_weight(std::int64_t microbatch, std::int64_t microbatches);
float statistic_decay(std::int64_t microbatches);

// value ← value·decay + gradient;  gradient ← 0. Elementwise.
void update_statistic(float decay, std::size_t elements, float* value, float* gradient);

}  // namespace penstock
