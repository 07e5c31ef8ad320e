#pragma once

// Quantities with their units in the type. Time is integer nanoseconds wherever it is compared or added up (core, sim,
// timelines); seconds as double appear only in cost formulas and in what is printed.

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "core/result.h"

namespace penstock {

template <class Tag, class Representation>
struct Quantity {
  Representation value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Representation v) : value(v) {}

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { value += other.value; return *this; }
  constexpr Quantity& operator-=(Quantity other) { value -= other.value; return *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value); }
  friend constexpr Quantity operator*(Quantity a, Representation n) { return Quantity(a.value * n); }
  friend constexpr Quantity operator*(Representation n, Quantity a) { return Quantity(a.value * n); }
};

using Nanoseconds = Quantity<struct NanosecondTag, std::int64_t>;
using Bytes = Quantity<struct ByteTag, std::int64_t>;
using Flops = Quantity<struct FlopTag, double>;                      // floating-point operations, a count
using FlopsPerSecond = Quantity<struct FlopRateTag, double>;
using BytesPerSecond = Quantity<struct ByteRateTag, double>;

inline constexpr Nanoseconds kForever{std::numeric_limits<std::int64_t>::max() / 4};
// No single duration that is read or derived is longer (26 days), and no step that is planned, nor run that is simulated,
// longer than kLongestRun (18 years): whoever adds times up need not look for overflow.
inline constexpr Nanoseconds kLongestTime{kForever.value / 1000};
inline constexpr Nanoseconds kLongestRun{kForever.value / 4};

constexpr double seconds(Nanoseconds t) { return static_cast<double>(t.value) / 1e9; }
// Rounds half away from zero; saturates at kForever.
Nanoseconds nanoseconds(double seconds);

// α + bytes/β, rounded to the nearest nanosecond.
Nanoseconds transfer_time(Nanoseconds latency, BytesPerSecond bandwidth, Bytes bytes);

constexpr Bytes align_up(Bytes bytes, std::int64_t alignment) {
  return Bytes((bytes.value + alignment - 1) / alignment * alignment);
}
inline constexpr std::int64_t kTensorAlignment = 64;  // bytes: every tensor starts on such a boundary

// Parsing accepts a number and a suffix: time ns us ms s; bytes B kB MB GB TB KiB MiB GiB TiB; rates the same with "/s";
// FLOP/s with k M G T P. A bare number is in the base unit (s, B, B/s, FLOP/s). Refuses NaN, infinities, negatives and
// what does not fit, in words fit for a user.
Result<Nanoseconds> parse_time(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);
Result<BytesPerSecond> parse_bandwidth(std::string_view text);
Result<FlopsPerSecond> parse_flop_rate(std::string_view text);

// For people: "12.3 ms", "4.00 GiB", "25.0 GB/s", "117 GFLOP/s". Never read back.
std::string text(Nanoseconds t);
std::string long_time(double seconds);  // of any length: "3.20 h", "41.0 days", "270 years"
std::string text(Bytes bytes);
std::string text(BytesPerSecond rate);
std::string text(FlopsPerSecond rate);

}  // namespace penstock
