#include "models/text_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace penstock {
namespace {

// The items between commas; an empty text has one empty item.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  for (;;) {
    const std::size_t comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

const std::string* TextForm::find(std::string_view key) const {
  for (const Setting& setting : settings)
    if (setting.key == key) return &setting.value;
  return nullptr;
}

Result<TextForm> parse_text_form(std::string_view text) {
  const auto refuse = [&](std::string why) {
    return fail(ErrorCode::Usage, fmt::format("\"{}\": {}", text, why),
                "write name:key=value,key=value");
  };
  const std::size_t colon = text.find(':');
  TextForm form{.name = std::string(text.substr(0, colon)), .argument = {}, .settings = {}};
  if (form.name.empty()) return refuse("the name is missing");
  if (colon == std::string_view::npos) return form;
  bool first = true;
  for (const std::string_view item : split(text.substr(colon + 1))) {
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (item.empty()) return refuse("there is nothing between two commas, or after the colon");
    if (equals == std::string_view::npos) {
      if (!first) return refuse(fmt::format("\"{}\" has no value", item));
      form.argument = item;
    } else {
      const std::string_view value = item.substr(equals + 1);
      if (key.empty()) return refuse(fmt::format("\"{}\" has no key", item));
      if (value.empty()) return refuse(fmt::format("\"{}\" has no value", key));
      if (form.find(key) != nullptr) return refuse(fmt::format("\"{}\" is given twice", key));
      form.settings.push_back({std::string(key), std::string(value)});
    }
    first = false;
  }
  return form;
}

Result<void> expect_keys(const TextForm& form, const std::vector<std::string_view>& known) {
  for (const Setting& setting : form.settings) {
    bool found = false;
    for (const std::string_view key : known) found = found || key == setting.key;
    if (found) continue;
    const std::string_view meant = nearest(setting.key, known);
    const std::string all = fmt::format("{} takes {}", form.name, fmt::join(known, ", "));
    return fail(ErrorCode::Usage, fmt::format("{} has no parameter \"{}\"", form.name, setting.key),
                meant.empty() ? all : fmt::format("did you mean {}? {}", meant, all));
  }
  return {};
}

bool lacks_unit(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && value > 0 && value < 1e300;
}

Result<std::int64_t> parse_count(std::string_view text, std::string_view what, std::int64_t least,
                                 std::int64_t greatest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string range = fmt::format("from {} to {}", least, greatest);
  if (error == std::errc::invalid_argument || end != text.data() + text.size())
    return fail(ErrorCode::Usage, fmt::format("{}: \"{}\" is not a whole number", what, text),
                "write digits only, " + range);
  if (error != std::errc() || value < least || value > greatest)
    return fail(ErrorCode::Usage, fmt::format("{}: {} is out of range", what, text),
                "it goes " + range);
  return value;
}

}  // namespace penstock
