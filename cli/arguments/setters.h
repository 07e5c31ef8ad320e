#pragma once

// How the text of a flag becomes a value: parsed by our own functions, so that every number on the command line is refused in
// the same words as one in a file.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cli {

// Parses a value and keeps it. Whatever goes wrong becomes a usage error that names the flag.
class Setter {
 public:
  template <class F>
  requires std::is_invocable_r_v<Result<void>, F, std::string_view, const std::string&> Setter(F set)
      : set_(std::move(set)) {}
  Setter(std::vector<std::string> choices, Setter other)
      : set_(std::move(other.set_)), choices_(std::move(choices)) {}

  Result<void> operator()(std::string_view flag, const std::string& text) const {
    return set_(flag, text);
  }
  // The values there are, where they are few and known: for the completion of shells.
  const std::vector<std::string>& choices() const { return choices_; }

 private:
  std::function<Result<void>(std::string_view flag, const std::string& text)> set_;
  std::vector<std::string> choices_;
};

// Setters keep what they parse in `target`, which must outlive them.
Setter text_into(std::string& target);
Setter count_into(std::int64_t& target, std::int64_t least, std::int64_t greatest);
Setter count_into(std::int32_t& target, std::int32_t least, std::int32_t greatest);
Setter seed_into(std::uint64_t& target);
Setter counts_into(std::vector<std::int64_t>& target, std::int64_t least,
                   std::int64_t greatest);  // "1,2,4"
Setter schedules_into(
    std::vector<std::string>& target);  // "1f1b,zb_auto:limit=1.5,seed=3": two of them
// Times and sizes need a unit: a bare number is refused.
Setter duration_into(Nanoseconds& target);  // above 0
Setter bytes_into(Bytes& target);
// "5%" or "0.05"; a bare number above 1, which may be meant in percent, is refused.
Setter share_into(std::optional<double>& target);

// The error of a value that is none of `names`.
tl::unexpected<Error> none_of(std::string_view flag, std::string_view text,
                              const std::vector<std::string>& names);

// One of the names of an enum (enum_names).
template <class E>
Setter choice_into(E& target) {
  std::vector<std::string> names;
  for (const auto& [value, name] : enum_names(E{})) names.emplace_back(name);
  return Setter(names, [&target, names](std::string_view flag,
                                        const std::string& text) -> Result<void> {
    for (const auto& [value, name] : enum_names(E{})) {
      if (name != text) continue;
      target = value;
      return {};
    }
    return none_of(flag, text, names);
  });
}

// Likewise, where what is not given stays unset.
template <class E>
Setter choice_into(std::optional<E>& target) {
  E unused{};
  return Setter(choice_into(unused).choices(),
                [&target](std::string_view flag, const std::string& text) -> Result<void> {
                  return choice_into(target.emplace())(flag, text);
                });
}

}  // namespace penstock::cli
