#include "core/formats/format_support.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json.h"
#include "core/toml.h"

namespace penstock {
namespace {

// The element or member of `value` that a step of a pointer names; null where there is none.
const Value* child(const Value& value, std::string_view step) {
  if (value.is_object()) return value.find(step);
  if (!value.is_array()) return nullptr;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc() && end == step.data() + step.size();
  return whole && index < value.array().size() ? &value.array()[index] : nullptr;
}

// Steps live on the stack for as long as the context needs them, hence the recursion.
bool descend(ReadContext& context, const Value& value, std::string_view pointer, Error error) {
  if (pointer.empty()) return context.fail(value, std::move(error));
  pointer.remove_prefix(1);
  const std::size_t slash = std::min(pointer.find('/'), pointer.size());
  const std::string_view step = pointer.substr(0, slash);
  const Value* next = child(value, step);
  if (next == nullptr && value.is_array()) return context.fail(value, std::move(error));
  if (value.is_array()) {
    const ReadContext::Step here(context, static_cast<std::size_t>(next - value.array().data()));
    return descend(context, *next, pointer.substr(slash), std::move(error));
  }
  const ReadContext::Step here(context, step);
  if (next == nullptr) return context.fail(value, std::move(error));
  return descend(context, *next, pointer.substr(slash), std::move(error));
}

}  // namespace

bool fail_at_pointer(ReadContext& context, const Value& root, Error error) {
  const std::string pointer = std::exchange(error.where.pointer, {});
  return descend(context, root, pointer, std::move(error));
}

std::string json_to_toml(std::string_view json) {
  const auto document = parse_json(json, "");
  PENSTOCK_CHECK(document.has_value(), "our own JSON does not parse");
  return to_toml(*document);
}

}  // namespace penstock
