#include "cli/arguments/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/command.h"
#include "core/file.h"

namespace penstock::cli {
namespace {

// Of a flag all that a file needs to know.
struct Known {
  bool toggle = false;
  std::string opposite;  // "" where there is none
};
using KnownFlags = std::map<std::string, Known, std::less<>>;  // by name without dashes

KnownFlags flags_of(const Command& command) {
  Shared shared;
  Flags flags;
  const std::unique_ptr<Verb> verb = command.make();
  declare_all(flags, command, *verb, shared);
  KnownFlags out;
  for (const Flag& flag : flags.flags()) {
    const std::string name(flag.long_name().substr(2));
    if (name != "help" && name != "config") out[name] = {.toggle = flag.value.empty(), .opposite = flag.opposite.empty() ? "" : flag.opposite.substr(2)};
  }
  return out;
}

class Reader {
 public:
  Reader(std::string file, std::string_view verb) : file_(std::move(file)), verb_(verb) {
    for (const Command& command : commands()) {
      verbs_.emplace_back(command.name);
      KnownFlags own = flags_of(command);
      all_.insert(own.begin(), own.end());
      of_verb_[verbs_.back()] = std::move(own);
    }
  }

  Result<std::vector<Default>> read(const Value& document) {
    if (!document.is_object())
      return refuse(document, "expected flags with their values", "write e.g. seed = 7");
    std::vector<Default> general, special;
    for (const auto& [key, value] : document.object()) {
      if (value.is_object()) {
        const auto known = of_verb_.find(key);
        if (known == of_verb_.end())
          return unknown(value, "verb", key, verbs_, "penstock --help lists the verbs");
        for (const auto& [name, member] : value.object())
          PENSTOCK_TRY_VOID(take(name, member, known->second, key == verb_, special));
        PENSTOCK_TRY_VOID(expect_no_contradiction(value, known->second));
      } else {
        const bool ours = of_verb_.find(verb_)->second.contains(key);
        PENSTOCK_TRY_VOID(take(key, value, all_, ours, general));
      }
    }
    PENSTOCK_TRY_VOID(expect_no_contradiction(document, all_));
    // The first that is found holds.
    special.insert(special.end(), general.begin(), general.end());
    return special;
  }

 private:
  Result<void> take(const std::string& key, const Value& value, const KnownFlags& known, bool ours,
                    std::vector<Default>& out) const {
    const auto flag = known.find(key);
    if (flag == known.end()) {
      std::vector<std::string> names;
      for (const auto& [name, ignored] : known) names.push_back(name);
      return unknown(value, "flag", key, names, "keys are flags of a verb, without their dashes");
    }
    if (flag->second.toggle && !value.is_boolean())
      return refuse(value, fmt::format("{} is on or off, not {}", key, describe_value(value)),
                    fmt::format("write {} = true", key));
    PENSTOCK_TRY(std::string text, text_of(key, value));
    if (ours) out.push_back({"--" + key, std::move(text), place(value)});
    return {};
  }

  // The two of an on/off flag in one table: of a verb's table and what stands above it, the table wins.
  Result<void> expect_no_contradiction(const Value& table, const KnownFlags& known) const {
    for (const auto& [key, value] : table.object()) {
      const auto flag = known.find(key);
      if (value.is_object() || flag == known.end() || !key.starts_with("no-")) continue;
      const Value* const other = table.find(flag->second.opposite);
      if (other == nullptr || other->boolean() != value.boolean()) continue;
      return refuse(value, fmt::format("{} and {} contradict each other", flag->second.opposite, key), "drop one of them");
    }
    return {};
  }

  Result<std::string> text_of(const std::string& key, const Value& value) const {
    if (value.is_string()) return value.string();
    if (value.is_boolean()) return std::string(value.boolean() ? "true" : "false");
    if (value.is_integer()) return fmt::format("{}", value.integer());
    if (value.is_real()) return fmt::format("{}", value.real());
    if (value.is_array()) {
      std::string list;
      for (const Value& item : value.array()) {
        if (item.is_array() || item.is_object()) break;
        PENSTOCK_TRY(const std::string text, text_of(key, item));
        list += (list.empty() ? "" : ",") + text;
      }
      if (!list.empty()) return list;
    }
    return refuse(value, fmt::format("{} cannot be {}", key, describe_value(value)),
                  "write text, a number, true or false, or a list of such");
  }

  Where place(const Value& value) const {
    return {.file = file_,
            .line = static_cast<int>(value.line()),
            .column = static_cast<int>(value.column())};
  }
  tl::unexpected<Error> refuse(const Value& value, std::string message, std::string hint) const {
    return fail(Error{.code = ErrorCode::BadInput,
                      .message = std::move(message),
                      .where = place(value),
                      .hint = std::move(hint)});
  }
  tl::unexpected<Error> unknown(const Value& value, std::string_view what, std::string_view key,
                                const std::vector<std::string>& known, std::string otherwise) const {
    const std::string_view meant = nearest(key, known);
    return refuse(value, fmt::format("there is no {} \"{}\"", what, key),
                  meant.empty() ? std::move(otherwise) : fmt::format("did you mean \"{}\"?", meant));
  }

  std::string file_;
  std::string_view verb_;
  std::vector<std::string> verbs_;
  KnownFlags all_;
  std::map<std::string, KnownFlags, std::less<>> of_verb_;
};

}  // namespace

Result<std::vector<Default>> read_config(const std::string& path, std::string_view verb) {
  PENSTOCK_TRY(const Value document, read_document(path));
  return Reader(path == "-" ? "<stdin>" : path, verb).read(document);
}

}  // namespace penstock::cli
