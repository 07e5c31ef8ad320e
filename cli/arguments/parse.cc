#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/flags.h"

namespace penstock::cli {
namespace {

tl::unexpected<Error> unknown_flag(const Flags& flags, const std::string& given) {
  std::vector<std::string_view> known;
  for (const Flag& flag : flags.flags()) known.push_back(flag.long_name());
  const std::string_view meant = nearest(given, known);
  return fail(ErrorCode::Usage, fmt::format("there is no flag {}", given),
              meant.empty() ? std::string("--help lists the flags")
                            : fmt::format("did you mean {}?", meant));
}

// What CLI11 left over: inputs in order, and flags that it does not know.
Result<void> take_inputs(const Flags& flags, const std::vector<std::string>& rest, bool help) {
  std::vector<std::string> values;
  for (const std::string& item : rest) {
    if (item == "--") continue;
    if (item.size() > 1 && item.front() == '-')
      return unknown_flag(flags, item.substr(0, item.find('=')));
    values.push_back(item);
  }
  const auto& inputs = flags.inputs();
  if (values.size() > inputs.size()) {
    return fail(ErrorCode::Usage,
                fmt::format("\"{}\" is one input too many", values[inputs.size()]),
                "flags with a value are written --flag VALUE; --help shows them");
  }
  for (std::size_t i = 0; i < values.size(); ++i) *inputs[i].target = values[i];
  if (values.size() < inputs.size() && !inputs[values.size()].optional && !help) {
    const Input& missing = inputs[values.size()];
    return fail(ErrorCode::Usage, fmt::format("{} is missing: {}", missing.name, missing.about),
                "--help shows examples");
  }
  return {};
}

Result<void> take_value(const Flag& flag, const std::vector<std::string>& values) {
  if (values.size() > 1) {
    return fail(ErrorCode::Usage,
                fmt::format("{} is given {} times", flag.long_name(), values.size()),
                "give it once");
  }
  return flag.set(flag.long_name(), values.front());
}

// The default that gives the flag, or none.
const Default* find_default(const Flag& flag, const std::vector<Default>& defaults) {
  for (const Default& one : defaults) {
    // Of an on/off flag "true" of either is "false" of the other.
    const bool toggle = flag.value.empty(), other = !flag.opposite.empty() && one.flag == flag.opposite;
    if (one.flag != flag.long_name() && !other) continue;
    return toggle && (one.text == "false") != other ? nullptr : &one;
  }
  return nullptr;
}

bool is_given(const std::vector<Flag>& declared, const std::vector<bool>& given, std::string_view name) {
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (given[i] && declared[i].long_name() == name) return true;
  }
  return false;
}

// For what the command line does not give. What a default needs may be a default too: they are chosen before any is set.
Result<void> take_defaults(const std::vector<Flag>& declared, const std::vector<Default>& defaults, std::vector<bool>& given) {
  std::vector<const Default*> chosen(declared.size(), nullptr);
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Flag& flag = declared[i];
    const auto opposite = std::find_if(declared.begin(), declared.end(), [&](const Flag& other) {
      return !flag.opposite.empty() && other.long_name() == flag.opposite;
    });
    if (flag.typed || (opposite != declared.end() && opposite->typed)) continue;
    chosen[i] = find_default(flag, defaults);
    given[i] = chosen[i] != nullptr;
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Flag& flag = declared[i];
    if (chosen[i] == nullptr) continue;
    given[i] = flag.needs.empty() || is_given(declared, given, flag.needs);
    if (!given[i]) continue;
    auto taken = flag.set(flag.long_name(), flag.value.empty() ? "" : chosen[i]->text);
    if (taken) continue;
    taken.error().code = ErrorCode::BadInput;
    taken.error().where = chosen[i]->where;
    return taken;
  }
  return {};
}

// Flags that contradict each other, and flags that mean nothing by themselves. Of what is typed: a file knows nothing of the
// command, and holds for many.
Result<void> expect_company(const std::vector<Flag>& declared, const std::vector<bool>& given) {
  for (const Flag& flag : declared) {
    if (!flag.typed) continue;
    const auto contradicts = [&](const Flag& other) { return other.typed && other.long_name() == flag.opposite; };
    if (std::any_of(declared.begin(), declared.end(), contradicts))
      return fail(ErrorCode::Usage, fmt::format("{} and {} contradict each other", flag.long_name(), flag.opposite),
                  "drop one of them");
    if (!flag.needs.empty() && !is_given(declared, given, flag.needs))
      return fail(ErrorCode::Usage, fmt::format("{} means nothing without {}", flag.long_name(), flag.needs),
                  fmt::format("give {} too, or leave {} out", flag.needs, flag.long_name()));
  }
  return {};
}

}  // namespace

Result<void> parse_arguments(Flags& flags, const std::vector<std::string>& arguments,
                             const bool& help,
                             const std::function<Result<std::vector<Default>>()>& defaults) {
  const std::vector<Flag>& declared = flags.flags();
  std::vector<std::vector<std::string>> values(declared.size());
  std::vector<CLI::Option*> toggles(declared.size(), nullptr);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  try {
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (declared[i].value.empty()) {
        toggles[i] = app.add_flag(declared[i].names)->disable_flag_override();
      } else {
        app.add_option(declared[i].names, values[i])
            ->expected(1)
            ->allow_extra_args(false)
            ->type_name(declared[i].value)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      }
    }
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view said = error.what();
    for (const Flag& flag : declared) {
      if (said.substr(0, said.find(':')) != flag.long_name()) continue;
      return fail(ErrorCode::Usage,
                  fmt::format("{} needs a value: {} {}", flag.long_name(), flag.long_name(), flag.value),
                  fmt::format("{}: {}", flag.value, flag.about));
    }
    return fail(ErrorCode::Usage, std::string(said), "--help shows what each flag takes");
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::Usage, error.what(), "--help shows what each flag takes");
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (toggles[i] != nullptr && toggles[i]->count() > 0)
      PENSTOCK_TRY_VOID(declared[i].set(declared[i].long_name(), ""));
  }
  PENSTOCK_TRY_VOID(take_inputs(flags, app.remaining(), help));
  std::vector<bool> given(declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    given[i] = !values[i].empty() || (toggles[i] != nullptr && toggles[i]->count() > 0);
    if (given[i]) flags.mark_typed(i);
    if (!values[i].empty()) PENSTOCK_TRY_VOID(take_value(declared[i], values[i]));
  }
  if (help) return {};
  if (defaults) {
    PENSTOCK_TRY(const std::vector<Default> wanted, defaults());
    PENSTOCK_TRY_VOID(take_defaults(declared, wanted, given));
  }
  PENSTOCK_TRY_VOID(expect_company(declared, given));
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].required || given[i]) continue;
    return fail(ErrorCode::Usage,
                fmt::format("{} {} is missing: {}", declared[i].long_name(), declared[i].value,
                            declared[i].about),
                "--help shows examples");
  }
  return {};
}

}  // namespace penstock::cli
