#include "exec/cpu/math/bf16.h"

#include <bit>

#include "exec/cpu/math/lanes.h"

namespace penstock::cpu {
namespace {

PENSTOCK_INLINE float wide(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

PENSTOCK_INLINE std::uint16_t rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  // Half a unit of the last place kept, less one where that place is even; a carry moves the
  // exponent on, up to infinity.
  const std::uint32_t nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16 | 0x40u) : nearest);
}

}  // namespace

PENSTOCK_CLONES void widen(const std::uint16_t* __restrict x, std::int64_t n, float* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = wide(x[i]);
}

PENSTOCK_CLONES void round_to_bf16(const float* __restrict x, std::int64_t n,
                                   std::uint16_t* __restrict y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = rounded(x[i]);
}

PENSTOCK_CLONES void add_bf16(const std::uint16_t* __restrict x, std::int64_t n,
                              std::uint16_t* __restrict sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = rounded(wide(sum[i]) + wide(x[i]));
}

}  // namespace penstock::cpu
