#pragma once

// TOML 1.0, the form of files that people write.

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/value.h"

namespace penstock {

// Members stand in file order and every node knows its line and column. Refuses, with
// file:line:column, what is not TOML, and of TOML: dates and times, infinities and NaN, nesting
// beyond kDeepestNesting.
Result<Value> parse_toml(std::string_view text, std::string file_name);

// `document` must be an object and hold no null within an array (PENSTOCK_CHECK); null members are
// left out, as TOML says absence. Objects become tables, arrays of objects arrays of tables, all
// else stands in line; plain members come before tables, so parse_toml(to_toml(d)) equals d up to
// the order of members.
std::string to_toml(const Value& document);

}  // namespace penstock
