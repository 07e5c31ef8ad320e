// JSON and TOML below all formats: what is read is written and read back equal.

#include "core/file.h"
#include "core/json.h"
#include "core/toml.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

// TOML has no null, and its top is a table.
bool fits_toml(const Value& value) {
  if (value.is_null()) return false;
  if (value.is_array())
    for (const Value& item : value.array())
      if (!fits_toml(item)) return false;
  if (value.is_object())
    for (const auto& [key, member] : value.object())
      if (!fits_toml(member)) return false;
  return true;
}

void run(std::string_view bytes) {
  if (const auto value = parse_json(bytes, "d.json")) {
    for (const int indent : {0, 2}) {
      const std::string json = to_json(*value, indent);
      require(require_value(parse_json(json, "d.json"), "written JSON reads back") == *value, "JSON reads back equal", json);
    }
  } else {
    require_refusal(value.error());
  }
  if (const auto value = parse_toml(bytes, "d.toml")) {
    const std::string json = to_json(*value);
    require(require_value(parse_json(json, "d.json"), "TOML written as JSON reads back") == *value, "and equal", json);
    if (fits_toml(*value)) {
      const std::string toml = to_toml(*value);
      const auto again = parse_toml(toml, "d.toml");
      require_value(again, "written TOML reads back");
      require(to_toml(*again) == toml, "TOML is written alike again", toml);
    }
  } else {
    require_refusal(value.error());
  }
  if (const auto value = parse_document(bytes, "d"); !value) require_refusal(value.error());
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
