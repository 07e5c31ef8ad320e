#pragma once

#include <string_view>

namespace penstock {

std::string_view version();   // "0.1.0"
std::string_view compiler();  // "g++ 12.2.0"

}  // namespace penstock
