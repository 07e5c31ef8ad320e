#pragma once

// Inputs and flags of a verb, declared once: the parser and the help text both read them. Values
// are parsed by our own functions, so that every number on the command line is refused in the same
// words as one in a file.
//
//   flags.input("PLAN", "plan file", plan_);
//   flags.add("--steps", "N", "steps to run (default 20)", count_into(steps_, 1, 1'000'000));
//   flags.toggle("--reference", "one device, one operation at a time", reference_);

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cli {

// Parses a value and keeps it. Whatever goes wrong becomes a usage error that names the flag.
using Setter = std::function<Result<void>(std::string_view flag, const std::string& text)>;

struct Flag {
  std::string names;  // "-o,--output"
  std::string value;  // "FILE"; "" for a toggle
  std::string about;
  Setter set;  // of a toggle: called with ""
  bool required = false;
  bool shared = false;  // every verb takes it

  std::string_view long_name() const;  // "--output"
};

// A flag that names a file to write. `again`: an input that may be the same file, to be replaced.
struct OutputFlag {
  std::string name;
  const std::string* path;
  const std::string* again = nullptr;
};

struct Input {
  std::string name;
  std::string about;
  std::string* target;
};

class Flags {
 public:
  void input(std::string name, std::string about, std::string& target);
  void add(std::string names, std::string value, std::string about, Setter set);
  void require(std::string names, std::string value, std::string about, Setter set);
  void toggle(std::string names, std::string about, bool& target);
  // A file to write: whether it can be is tested before the verb starts (cli/output.h).
  void output(std::string names, std::string value, std::string about, std::string& target,
              const std::string* again = nullptr);
  void mark_shared();  // all flags so far

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Flag>& flags() const { return flags_; }
  const std::vector<OutputFlag>& outputs() const { return outputs_; }

 private:
  std::vector<Input> inputs_;
  std::vector<Flag> flags_;
  std::vector<OutputFlag> outputs_;
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
Setter time_into(Nanoseconds& target);
Setter duration_into(Nanoseconds& target);  // above 0
Setter bytes_into(Bytes& target);
Setter share_into(std::optional<double>& target);  // "5%" or "0.05"

// One of the names of an enum (enum_names).
template <class E>
Setter choice_into(E& target) {
  return [&target](std::string_view flag, const std::string& text) -> Result<void> {
    std::string known;
    for (const auto& [value, name] : enum_names(E{})) {
      if (name == text) {
        target = value;
        return {};
      }
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    return fail(ErrorCode::Usage, std::string(flag) + ": \"" + text + "\" is none of " + known);
  };
}

// Applies `arguments` (without the verb) to what `flags` declares. Usage errors: an unknown flag
// (naming the nearest), a value that is missing or does not parse, a flag given twice, too few or
// too many inputs. With `help` set by its flag, what is missing is not missed. parse.cc, the one
// file that includes CLI11.
Result<void> parse_arguments(const Flags& flags, const std::vector<std::string>& arguments,
                             const bool& help);

}  // namespace penstock::cli
