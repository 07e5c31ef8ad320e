#include "core/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

namespace penstock {
namespace {

struct Suffix {
  std::string_view name;
  double scale;  // base units in one
};

constexpr std::array<Suffix, 4> kTimes = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Suffix, 9> kBytes = {{{"B", 1},
                                           {"kB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"KiB", 1024.0},
                                           {"MiB", 1024.0 * 1024},
                                           {"GiB", 1024.0 * 1024 * 1024},
                                           {"TiB", 1024.0 * 1024 * 1024 * 1024}}};
constexpr std::array<Suffix, 6> kFlops = {{{"FLOP/s", 1},
                                           {"kFLOP/s", 1e3},
                                           {"MFLOP/s", 1e6},
                                           {"GFLOP/s", 1e9},
                                           {"TFLOP/s", 1e12},
                                           {"PFLOP/s", 1e15}}};

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool same_letter(char a, char b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return small(a) == small(b);
}

std::vector<std::string> beginning_with(std::string_view unit, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (unit.size() < name.size() && std::equal(unit.begin(), unit.end(), name.begin(), same_letter)) out.push_back(name);
  }
  return out;
}

// `ending` is what follows every suffix ("/s" for bandwidths); `bare` the scale of a number alone.
Result<double> parse_quantity(std::string_view text, std::string_view what,
                              std::span<const Suffix> suffixes, std::string_view ending,
                              double bare) {
  const std::string_view trimmed = trim(text);
  const auto units = [&] {
    std::string out;
    for (const Suffix& suffix : suffixes)
      out += fmt::format("{}{}{}", out.empty() ? "" : ", ", suffix.name, ending);
    return out;
  };
  const auto refuse = [&](std::string_view why, std::string hint) {
    return fail(ErrorCode::BadInput, fmt::format("\"{}\" is not {}: {}", text, what, why),
                std::move(hint));
  };
  double number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error == std::errc::result_out_of_range)
    return refuse("the number does not fit in a double", "");
  if (error != std::errc())
    return refuse("it does not start with a number",
                  fmt::format("write a number and one of {}", units()));
  if (!std::isfinite(number)) return refuse("the number is not finite", "");
  if (number < 0) return refuse("it is negative", "");
  number += 0.0;  // "-0" is 0
  const std::string_view unit =
      trim(trimmed.substr(static_cast<std::size_t>(end - trimmed.data())));
  if (unit.empty()) return number * bare;
  std::vector<std::string> names;
  for (const Suffix& suffix : suffixes) {
    names.push_back(std::string(suffix.name) + std::string(ending));
    if (unit == names.back()) return number * suffix.scale;
  }
  // "2M" may be meant in either scale.
  if (std::vector<std::string> begun = beginning_with(unit, names); begun.size() > 1) {
    for (std::string& name : begun) name.insert(0, trimmed.substr(0, trimmed.size() - unit.size()));
    return refuse(fmt::format("unknown unit \"{}\"", unit),
                  fmt::format("did you mean {}?", fmt::join(begun, " or ")));
  }
  const std::string_view meant = nearest(unit, names);
  return refuse(fmt::format("unknown unit \"{}\"", unit),
                meant.empty() ? fmt::format("one of {}", units())
                              : fmt::format("did you mean {}? one of {}", meant, units()));
}

Result<std::int64_t> to_integer(double x, std::string_view text, std::string_view what) {
  if (!(x < 9.2e18))
    return fail(ErrorCode::BadInput, fmt::format("\"{}\" is too large for {}", text, what));
  return static_cast<std::int64_t>(std::round(x));
}

// Three significant digits, the unit chosen so that the number stays below `step` where there is a
// larger unit.
std::string scaled(double x, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  // 999.5 and up would round to 1000: take the next unit already there.
  while (unit + 1 < units.size() && std::abs(x) >= step - 0.5) {
    x /= step;
    ++unit;
  }
  const double size = std::abs(x);
  const int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", x, digits, units[unit]);
}

}  // namespace

Nanoseconds nanoseconds(double seconds) {
  PENSTOCK_CHECK(!std::isnan(seconds), "a time that is not a number");
  const double ns = std::round(seconds * 1e9);
  const auto forever = static_cast<double>(kForever.value);
  if (ns >= forever) return kForever;
  if (ns <= -forever) return -kForever;
  return Nanoseconds(static_cast<std::int64_t>(ns));
}

Nanoseconds transfer_time(Nanoseconds latency, BytesPerSecond bandwidth, Bytes bytes) {
  if (bytes.value == 0) return latency;  // also where the bandwidth is 0
  const Nanoseconds moving = nanoseconds(static_cast<double>(bytes.value) / bandwidth.value);
  return std::min(std::min(latency, kForever) + moving, kForever);
}

Result<Nanoseconds> parse_time(std::string_view text) {
  PENSTOCK_TRY(const double ns, parse_quantity(text, "a time", kTimes, "", 1e9));
  if (ns >= static_cast<double>(kForever.value))
    return fail(ErrorCode::BadInput,
                fmt::format("\"{}\" is too large for a time (73 years at most)", text));
  return Nanoseconds(static_cast<std::int64_t>(std::round(ns)));
}

Result<Bytes> parse_bytes(std::string_view text) {
  PENSTOCK_TRY(const double bytes, parse_quantity(text, "a number of bytes", kBytes, "", 1));
  PENSTOCK_TRY(const std::int64_t whole, to_integer(bytes, text, "a number of bytes"));
  return Bytes(whole);
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  PENSTOCK_TRY(const double rate, parse_quantity(text, "a bandwidth", kBytes, "/s", 1));
  if (!std::isfinite(rate))
    return fail(ErrorCode::BadInput, fmt::format("\"{}\" is too large for a bandwidth", text));
  return BytesPerSecond(rate);
}

Result<FlopsPerSecond> parse_flop_rate(std::string_view text) {
  PENSTOCK_TRY(const double rate, parse_quantity(text, "a rate of computing", kFlops, "", 1));
  if (!std::isfinite(rate))
    return fail(ErrorCode::BadInput, fmt::format("\"{}\" is too large for a rate", text));
  return FlopsPerSecond(rate);
}

std::string text(Nanoseconds t) {
  static constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  if (t >= kForever) return "forever";
  if (std::abs(t.value) < 1000) return fmt::format("{} ns", t.value);
  return scaled(static_cast<double>(t.value), 1000, kUnits);
}

std::string long_time(double seconds) {
  constexpr double kHour = 3600, kDay = 24 * kHour, kYear = 365.25 * kDay;
  if (seconds < kHour) return text(nanoseconds(seconds));
  if (seconds < 2 * kDay) return fmt::format("{:.3g} h", seconds / kHour);
  if (seconds < 2 * kYear) return fmt::format("{:.3g} days", seconds / kDay);
  return fmt::format("{:.3g} years", seconds / kYear);
}

std::string text(Bytes bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (std::abs(bytes.value) < 1024) return fmt::format("{} B", bytes.value);
  return scaled(static_cast<double>(bytes.value), 1024, kUnits);
}

std::string text(BytesPerSecond rate) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return scaled(rate.value, 1000, kUnits);
}

std::string text(FlopsPerSecond rate) {
  static constexpr std::array<std::string_view, 6> kUnits = {"FLOP/s",  "kFLOP/s", "MFLOP/s",
                                                             "GFLOP/s", "TFLOP/s", "PFLOP/s"};
  return scaled(rate.value, 1000, kUnits);
}

}  // namespace penstock
