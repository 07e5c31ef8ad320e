#pragma once

// Inputs and flags of a verb, declared once: the parser and the help text both read them.
//
//   flags.input("PLAN", "plan file", plan_);
//   flags.add("--steps", "N", "steps to run (default 20)", count_into(steps_, 1, 1'000'000));
//   flags.toggle("--reference", "one device, one operation at a time", reference_);

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/setters.h"
#include "core/result.h"

namespace penstock::cli {

struct Flag {
  std::string names;  // "-o,--output"
  std::string value;  // "FILE"; "" for a toggle
  std::string about;
  Setter set;  // of a toggle: called with ""
  bool required = false;
  bool shared = false;  // every verb takes it
  std::string needs = {};     // the flag without which it means nothing; "" where there is none
  std::string opposite = {};  // of an on/off flag: the other of the two
  bool typed = false;         // the command line gives it

  std::string_view long_name() const;  // "--output"
};

// A flag that names a file to write. `again`: an input that may be the same file, to be replaced.
// `beside`: endings of files that are written with it.
struct OutputFlag {
  std::string name;
  const std::string* path;
  const std::string* again = nullptr;
  std::vector<std::string> beside = {};
};

// An input or a flag whose text may name a file, or a folder, to read.
struct ReadFile {
  std::string name;
  const std::string* path;
};

struct Input {
  std::string name;
  std::string about;
  std::string* target;
  bool optional = false;
  std::vector<std::string> choices = {};  // as Setter::choices
};

// What a flag is where the command line does not give it (cli/arguments/config.h).
struct Default {
  std::string flag;  // "--steps"
  std::string text;  // of a toggle: "true" or "false"
  Where where;
};

class Flags {
 public:
  void input(std::string name, std::string about, std::string& target);
  // May be left out; inputs behind it too.
  void optional_input(std::string name, std::string about, std::string& target);
  void offer(std::vector<std::string> choices);  // of the last input
  void add(std::string names, std::string value, std::string about, Setter set);
  void require(std::string names, std::string value, std::string about, Setter set);
  void toggle(std::string names, std::string about, bool& target);
  // --NAME and --no-NAME, of which one is the default; both at once are refused.
  void on_off(const std::string& name, std::string on, std::string off, bool& target);
  // A file to write: whether it can be is tested before the verb starts (cli/output.h).
  void output(std::string names, std::string value, std::string about, std::string& target,
              const std::string* again = nullptr, std::vector<std::string> beside = {});
  // The input or flag whose text is kept in `target` may name a file to read: nothing is written over it.
  void reads(std::string name, const std::string& target);
  // The last flag only says more about `other`, and is refused without it.
  void needs(std::string other);
  void mark_shared();  // all flags so far
  void mark_typed(std::size_t flag);

  // Whether the command line itself gives the flag, by its long name: a default from a file that does not fit what is done
  // is no reason to refuse it.
  bool typed(std::string_view name) const;

  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<Flag>& flags() const { return flags_; }
  const std::vector<OutputFlag>& outputs() const { return outputs_; }
  const std::vector<ReadFile>& files_read() const { return reads_; }

 private:
  std::vector<Input> inputs_;
  std::vector<Flag> flags_;
  std::vector<OutputFlag> outputs_;
  std::vector<ReadFile> reads_;
};

// Applies `arguments` (without the verb) to what `flags` declares. Usage errors: an unknown flag
// (naming the nearest), a value that is missing or does not parse, a flag given twice or without the
// one it needs, too few or too many inputs. With `help` set by its flag, what is missing is not missed. `defaults` is asked
// once all that is given has been set, and holds for the rest; a default without the flag that it needs is left out.
// arguments/parse.cc, the one file that includes CLI11.
Result<void> parse_arguments(
    Flags& flags, const std::vector<std::string>& arguments, const bool& help,
    const std::function<Result<std::vector<Default>>()>& defaults = nullptr);

}  // namespace penstock::cli
