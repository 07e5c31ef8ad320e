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

// Whether there is a default for it.
Result<bool> take_default(const Flag& flag, const std::vector<Default>& defaults) {
  for (const Default& one : defaults) {
    // Of an on/off flag "true" of either is "false" of the other.
    const bool toggle = flag.value.empty(), other = !flag.opposite.empty() && one.flag == flag.opposite;
    if (one.flag != flag.long_name() && !other) continue;
    if (toggle && (one.text == "false") != other) return false;
    auto taken = flag.set(flag.long_name(), toggle ? "" : one.text);
    if (!taken) {
      taken.error().code = ErrorCode::BadInput;
      taken.error().where = one.where;
      return fail(std::move(taken.error()));
    }
    return true;
  }
  return false;
}

// Flags that contradict each other, and flags that mean nothing by themselves.
Result<void> expect_company(const std::vector<Flag>& declared, const std::vector<bool>& given) {
  const auto is_given = [&](std::string_view name) {
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (given[i] && declared[i].long_name() == name) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Flag& flag = declared[i];
    if (!given[i]) continue;
    if (!flag.opposite.empty() && is_given(flag.opposite))
      return fail(ErrorCode::Usage, fmt::format("{} and {} contradict each other", flag.long_name(), flag.opposite),
                  "drop one of them");
    if (!flag.needs.empty() && !is_given(flag.needs))
      return fail(ErrorCode::Usage, fmt::format("{} means nothing without {}", flag.long_name(), flag.needs),
                  fmt::format("give {} too, or leave {} out", flag.needs, flag.long_name()));
  }
  return {};
}

}  // namespace

Result<void> parse_arguments(const Flags& flags, const std::vector<std::string>& arguments,
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
    if (!values[i].empty()) PENSTOCK_TRY_VOID(take_value(declared[i], values[i]));
  }
  if (help) return {};
  if (defaults) {
    PENSTOCK_TRY(const std::vector<Default> wanted, defaults());
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto opposite = [&](const Flag& flag) { return !flag.names.empty() && flag.names == declared[i].opposite; };
      const auto other = std::find_if(declared.begin(), declared.end(), opposite);
      if (given[i] || (other != declared.end() && given[static_cast<std::size_t>(other - declared.begin())])) continue;
      PENSTOCK_TRY(given[i], take_default(declared[i], wanted));
    }
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
