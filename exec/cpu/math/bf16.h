#pragma once

// bf16 is a way to store: the upper half of an f32. Arithmetic stays f32.

#include <cstdint>

namespace penstock::cpu {

// Exact.
void widen(const std::uint16_t* x, std::int64_t n, float* y);

// To the nearest, ties to even; too large becomes infinity, NaN stays NaN.
void round_to_bf16(const float* x, std::int64_t n, std::uint16_t* y);

// sum ← sum + x, rounded.
void add_bf16(const std::uint16_t* x, std::int64_t n, std::uint16_t* sum);

}  // namespace penstock::cpu
