#pragma once

// How the validate() functions of the nouns say what is wrong: the place is a JSON pointer from the
// noun's own root, to which the reader of a file adds the file and, where it knows them, line and
// column.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace penstock {

inline tl::unexpected<Error> invalid(std::string pointer, std::string message, std::string hint) {
  return fail(Error{ErrorCode::BadInput, std::move(message), Where{.pointer = std::move(pointer)},
                    std::move(hint)});
}

// The same result with its place seen from further out: "/layers/3" within "/networks/0".
template <class T>
Result<T> within(std::string_view prefix, Result<T> result) {
  if (!result) result.error().where.pointer.insert(0, prefix);
  return result;
}

// Items are referred to by name in files, so each needs one of its own. `pointer`: of the list.
template <class Item>
Result<void> check_names(const std::vector<Item>& items, const std::string& pointer,
                         const std::string& what) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string place = pointer + "/" + std::to_string(i) + "/name";
    if (items[i].name.empty())
      return invalid(place, "a " + what + " without a name", "give every " + what + " a name");
    const auto [other, is_new] = seen.emplace(items[i].name, i);
    if (!is_new)
      return invalid(place,
                     "two " + what + "s are named '" + items[i].name + "': numbers " +
                         std::to_string(other->second) + " and " + std::to_string(i),
                     "rename one of them");
  }
  return {};
}

}  // namespace penstock
