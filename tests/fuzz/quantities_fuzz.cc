// Quantities: in range and finite, and the number alone means the same in the base unit.

#include <cmath>

#include <fmt/format.h>

#include "core/units.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  const std::string_view line = fuzz::text(data, size);
  if (const auto time = parse_time(line)) {
    fuzz::require(time->value >= 0 && *time <= kForever, "a time is in range");
    fuzz::require(fuzz::require_value(parse_time(fmt::format("{}ns", time->value)), "nanoseconds parse").value == time->value ||
                      time->value > std::int64_t{1} << 53,
                  "nanoseconds are exact as far as doubles are");
    fuzz::require(!text(*time).empty() && !long_time(seconds(*time)).empty(), "a time has a text");
  } else {
    fuzz::require_refusal(time.error());
  }
  if (const auto bytes = parse_bytes(line)) {
    fuzz::require(bytes->value >= 0, "bytes are in range");
    fuzz::require(!text(*bytes).empty(), "bytes have a text");
  } else {
    fuzz::require_refusal(bytes.error());
  }
  if (const auto rate = parse_bandwidth(line)) {
    fuzz::require(std::isfinite(rate->value) && rate->value >= 0, "a bandwidth is in range");
    fuzz::require(fuzz::require_value(parse_bandwidth(fmt::format("{}", rate->value)), "a bandwidth parses") == *rate,
                  "a bandwidth is exact");
    fuzz::require(!text(*rate).empty(), "a bandwidth has a text");
  } else {
    fuzz::require_refusal(rate.error());
  }
  if (const auto rate = parse_flop_rate(line)) {
    fuzz::require(std::isfinite(rate->value) && rate->value >= 0, "a rate is in range");
    fuzz::require(!text(*rate).empty(), "a rate has a text");
  } else {
    fuzz::require_refusal(rate.error());
  }
  return 0;
}
