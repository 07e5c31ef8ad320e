#include "core/contrast.h"

#include <fmt/core.h>

namespace penstock {
namespace {

template <class Quantity>
std::pair<std::string, std::string> apart(Quantity a, Quantity b, const char* unit) {
  std::pair out(text(a), text(b));
  if (out.first != out.second || a == b) return out;
  return {fmt::format("{} {}", a.value, unit), fmt::format("{} {}", b.value, unit)};
}

}  // namespace

std::pair<std::string, std::string> contrast(Bytes a, Bytes b) { return apart(a, b, "B"); }
std::pair<std::string, std::string> contrast(Nanoseconds a, Nanoseconds b) { return apart(a, b, "ns"); }

}  // namespace penstock
