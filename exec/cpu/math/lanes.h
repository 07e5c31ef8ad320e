#pragma once

// Arithmetic over rows of floats with the same bits for every alignment, position and instruction
// set: only IEEE add, multiply, divide and integer operations, never contracted
// (-ffp-contract=off), and sums in one written order. The loops are plain so that the compiler
// vectorises them; PENSTOCK_CLONES lets it do so for wider registers than the baseline's, which
// changes no bit.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

// Sanitizers instrument the dispatcher of clones, which runs before their runtime exists.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PENSTOCK_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define PENSTOCK_CLONES
#endif
#define PENSTOCK_INLINE [[gnu::always_inline]] inline

namespace penstock::cpu {

inline constexpr std::int64_t kLanes = 16;

// Σ term(i) for i in [0, n): lane l adds the terms l, l + 16, l + 32, … in that order, then the
// lanes are folded in halves. For n = 18:
//   lane 0 = t0 + t16, lane 1 = t1 + t17, lane l = t_l
//   result = (((0 + 8) + (4 + 12)) + ((2 + 10) + (6 + 14))) + the same of the odd lanes
template <class Real = float, class Term>
PENSTOCK_INLINE Real lane_sum(std::int64_t n, Term term) {
  Real lane[kLanes] = {};
  const std::int64_t whole = n / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) lane[l] += term(i + l);
  }
  for (std::int64_t i = whole; i < n; ++i) lane[i - whole] += term(i);
#pragma GCC unroll 4
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

// max of x[0..n), n >= 1. A NaN may be lost here; the sums that follow keep it.
PENSTOCK_INLINE float lane_max(const float* x, std::int64_t n) {
  float lane[kLanes];
  for (std::int64_t l = 0; l < kLanes; ++l) lane[l] = x[0];
  const std::int64_t whole = n / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l) lane[l] = lane[l] < x[i + l] ? x[i + l] : lane[l];
  }
  for (std::int64_t i = whole; i < n; ++i)
    lane[i - whole] = lane[i - whole] < x[i] ? x[i] : lane[i - whole];
#pragma GCC unroll 4
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half; ++l)
      lane[l] = lane[l] < lane[l + half] ? lane[l + half] : lane[l];
  }
  return lane[0];
}

// e^x within 2 units in the last place for |x| <= 87, held at the ends beyond (so always finite,
// positive and normal); NaN stays NaN. x = n·ln 2 + r, |r| <= ln 2 / 2: e^x = 2^n · e^r, and the
// series of e^r to r^7 leaves out less than 6e-9. Limits are kept on the bits: out of float
// comparisons the compiler makes cases, and evaluates them all in every lane.
PENSTOCK_INLINE float exponential(float x) {
  constexpr std::int32_t kSign = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kLimit = std::bit_cast<std::int32_t>(87.0f);
  constexpr std::int32_t kInfinity = 0x7f800000;  // only a NaN's magnitude is above
  constexpr std::int32_t kNan = 0x7fc00000;
  constexpr float kRounder = 12582912.0f;      // 1.5 · 2^23: x + it is rounded, in the low bits
  constexpr float kLog2High = 0.693359375f;    // exact in 9 bits, so n · kLog2High is exact
  constexpr float kLog2Low = -2.12194440e-4f;  // ln 2 - kLog2High
  const std::int32_t bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t magnitude = bits & ~kSign;
  const std::int32_t nan = ((kInfinity - magnitude) >> 31) & kNan;
  x = std::bit_cast<float>(std::min(magnitude, kLimit) | (bits & kSign));
  const float shifted = x * 1.44269504f + kRounder;
  const float n = shifted - kRounder;
  const float r = (x - n * kLog2High) - n * kLog2Low;
  float series = 1.0f / 5040;
  series = series * r + 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 0.5f;
  series = series * (r * r) + r;
  series = series + 1.0f;
  const std::int32_t exponent =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder);
  const float power = series * std::bit_cast<float>((exponent + 127) << 23);
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(power) | nan);
}

}  // namespace penstock::cpu
