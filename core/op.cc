#include "core/op.h"

namespace penstock {
namespace {

constexpr bool names_follow_the_enum() {
  for (std::size_t i = 0; i < kOpNames.size(); ++i)
    if (static_cast<std::size_t>(kOpNames[i].first) != i) return false;
  return true;
}
static_assert(names_follow_the_enum(), "name() indexes kOpNames by value");

}  // namespace

std::string_view name(Op op) {
  return kOpNames[static_cast<std::size_t>(op)].second;
}

std::optional<Op> parse_op(std::string_view text) {
  for (const auto& [op, op_name] : kOpNames)
    if (op_name == text) return op;
  return std::nullopt;
}

}  // namespace penstock
