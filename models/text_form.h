#pragma once

// The short form in which built-in things are asked for: "name", "name:key=value,key=value", and,
// where a form takes a leading argument, "name:argument,key=value". Keys may come in any order,
// each once. All errors here are usage errors.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace penstock {

struct Setting {
  std::string key;
  std::string value;
};

struct TextForm {
  std::string name;
  std::string argument;           // "" where there is none
  std::vector<Setting> settings;  // in the order written

  // The value of a key, or null pointer.
  const std::string* find(std::string_view key) const;
};

// Refuses an empty name, empty items ("gpt:", "gpt:a=1,,b=2"), a key or a value left out, a key
// written twice, and an item without '=' that is not the first one.
Result<TextForm> parse_text_form(std::string_view text);

// Refuses a key that is not among `known`, naming the nearest one and all of them.
Result<void> expect_keys(const TextForm& form, const std::vector<std::string_view>& known);

// Whether `text` is a number alone other than 0: one that could be meant in any unit.
bool lacks_unit(std::string_view text);

// A whole number in decimal, between the two bounds; `what` names it in the error.
Result<std::int64_t> parse_count(std::string_view text, std::string_view what, std::int64_t least,
                                 std::int64_t greatest);

}  // namespace penstock
