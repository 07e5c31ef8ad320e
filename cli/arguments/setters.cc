#include "cli/arguments/setters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/text_form.h"

namespace penstock::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  std::size_t start = 0;
  for (;;) {
    const std::size_t comma = text.find(',', start);
    items.push_back(text.substr(start, comma == std::string::npos ? comma : comma - start));
    if (comma == std::string::npos) return items;
    start = comma + 1;
  }
}

tl::unexpected<Error> usage(std::string_view flag, Error error) {
  error.code = ErrorCode::Usage;
  error.message = fmt::format("{}: {}", flag, error.message);
  return fail(std::move(error));
}

Result<void> expect_unit(std::string_view flag, const std::string& text, std::string_view example,
                         std::string_view units) {
  if (!lacks_unit(text)) return {};
  return fail(ErrorCode::Usage, fmt::format("{}: \"{}\" has no unit", flag, text),
              fmt::format("write e.g. {}{}; units are {}", text, example, units));
}

}  // namespace

tl::unexpected<Error> none_of(std::string_view flag, std::string_view text,
                              const std::vector<std::string>& names) {
  const std::string_view meant = nearest(text, names);
  return fail(ErrorCode::Usage,
              fmt::format("{}: \"{}\" is none of {}", flag, text, fmt::join(names, ", ")),
              meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                            : fmt::format("did you mean {}?", meant));
}

Setter text_into(std::string& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    if (text.empty()) return fail(ErrorCode::Usage, fmt::format("{}: nothing is given", flag),
                  "leave the flag out, or give it a value");
    target = text;
    return {};
  };
}

Setter count_into(std::int64_t& target, std::int64_t least, std::int64_t greatest) {
  return [=, &target](std::string_view flag, const std::string& text) -> Result<void> {
    PENSTOCK_TRY(target, parse_count(text, flag, least, greatest));
    return {};
  };
}

Setter count_into(std::int32_t& target, std::int32_t least, std::int32_t greatest) {
  return [=, &target](std::string_view flag, const std::string& text) -> Result<void> {
    PENSTOCK_TRY(const std::int64_t value, parse_count(text, flag, least, greatest));
    target = static_cast<std::int32_t>(value);
    return {};
  };
}

Setter seed_into(std::uint64_t& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    PENSTOCK_TRY(const std::int64_t value,
                 parse_count(text, flag, 0, std::numeric_limits<std::int64_t>::max()));
    target = static_cast<std::uint64_t>(value);
    return {};
  };
}

Setter counts_into(std::vector<std::int64_t>& target, std::int64_t least, std::int64_t greatest) {
  return [=, &target](std::string_view flag, const std::string& text) -> Result<void> {
    target.clear();
    for (const std::string& item : split(text)) {
      PENSTOCK_TRY(const std::int64_t value, parse_count(item, flag, least, greatest));
      target.push_back(value);
    }
    return {};
  };
}

// A comma parts schedules as well as the parameters of one: what follows it is a parameter if it is
// a key=value whose key holds no colon.
Setter schedules_into(std::vector<std::string>& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    target.clear();
    for (const std::string& item : split(text)) {
      if (item.empty())
        return fail(ErrorCode::Usage,
                    fmt::format("{}: a schedule is missing in \"{}\"", flag, text),
                    "write names parted by single commas; penstock schedules lists them");
      const std::size_t equals = item.find('=');
      const bool parameter = equals != std::string::npos && item.find(':') > equals;
      if (parameter && !target.empty()) {
        target.back() += "," + item;
      } else {
        target.push_back(item);
      }
    }
    return {};
  };
}

Setter duration_into(Nanoseconds& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    PENSTOCK_TRY_VOID(expect_unit(flag, text, "s", "ns, us, ms, s"));
    auto value = parse_time(text);
    if (!value) return usage(flag, std::move(value.error()));
    target = *value;
    if (target.value > 0) return {};
    return fail(ErrorCode::Usage, fmt::format("{}: \"{}\" is no time at all", flag, text),
                "write 30s or 500ms");
  };
}

Setter bytes_into(Bytes& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    PENSTOCK_TRY_VOID(expect_unit(flag, text, "GiB", "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"));
    auto value = parse_bytes(text);
    if (!value) return usage(flag, std::move(value.error()));
    target = *value;
    return {};
  };
}

Setter share_into(std::optional<double>& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    double value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    const bool percent = end + 1 == last && *end == '%';
    if (error != std::errc() || (end != last && !percent) || !std::isfinite(value) || value < 0) {
      return fail(ErrorCode::Usage, fmt::format("{}: \"{}\" is not a share", flag, text),
                  "write 5% or 0.05");
    }
    if (!percent && value > 1) {
      return fail(ErrorCode::Usage,
                  fmt::format("{}: \"{}\" may be meant in percent, or as {:.4g} %", flag, text, 100 * value),
                  fmt::format("write {0}% or {1:.4g}", text, value / 100));
    }
    target = percent ? value / 100 : value;
    return {};
  };
}

}  // namespace penstock::cli
