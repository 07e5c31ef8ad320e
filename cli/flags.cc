#include "cli/flags.h"

#include <algorithm>
#include <utility>

namespace penstock::cli {

std::string_view Flag::long_name() const {
  const std::size_t comma = names.find(',');
  return comma == std::string::npos ? std::string_view(names)
                                    : std::string_view(names).substr(comma + 1);
}

void Flags::input(std::string name, std::string about, std::string& target) {
  inputs_.push_back({.name = std::move(name), .about = std::move(about), .target = &target});
}

void Flags::optional_input(std::string name, std::string about, std::string& target) {
  input(std::move(name), std::move(about), target);
  inputs_.back().optional = true;
}

void Flags::offer(std::vector<std::string> choices) {
  inputs_.back().choices = std::move(choices);
}

void Flags::add(std::string names, std::string value, std::string about, Setter set) {
  flags_.push_back({.names = std::move(names),
                    .value = std::move(value),
                    .about = std::move(about),
                    .set = std::move(set)});
}

void Flags::require(std::string names, std::string value, std::string about, Setter set) {
  add(std::move(names), std::move(value), std::move(about), std::move(set));
  flags_.back().required = true;
}

void Flags::toggle(std::string names, std::string about, bool& target) {
  add(std::move(names), "", std::move(about),
      [&target](std::string_view, const std::string&) -> Result<void> {
        target = true;
        return {};
      });
}

void Flags::on_off(const std::string& name, std::string on, std::string off, bool& target) {
  toggle("--" + name, std::move(on), target);
  flags_.back().opposite = "--no-" + name;
  add("--no-" + name, "", std::move(off), [&target](std::string_view, const std::string&) -> Result<void> {
    target = false;
    return {};
  });
  flags_.back().opposite = "--" + name;
}

void Flags::output(std::string names, std::string value, std::string about, std::string& target,
                   const std::string* again, std::vector<std::string> beside) {
  add(std::move(names), std::move(value), std::move(about), text_into(target));
  outputs_.push_back({std::string(flags_.back().long_name()), &target, again, std::move(beside)});
}

void Flags::reads(std::string name, const std::string& target) {
  reads_.push_back({.name = std::move(name), .path = &target});
}

void Flags::needs(std::string other) {
  flags_.back().needs = std::move(other);
}

void Flags::mark_shared() {
  for (Flag& flag : flags_) flag.shared = true;
}

void Flags::mark_typed(std::size_t flag) {
  flags_[flag].typed = true;
}

bool Flags::typed(std::string_view name) const {
  const auto flag = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& one) { return one.long_name() == name; });
  PENSTOCK_CHECK(flag != flags_.end(), "a flag was asked for that is not declared");
  return flag->typed;
}

}  // namespace penstock::cli
