#pragma once

// What the command line is made of: commands, one a verb, each a name, its flags, and what it does.
// A verb knows nothing of how arguments are parsed, where its answer is printed, or what exit code
// an error becomes; dispatch does all that.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/answer.h"
#include "core/result.h"

namespace penstock::cli {

class Flags;

// The flags that every verb takes.
struct Shared {
  std::string output;  // -o; "" where not given
  bool json = false;
  bool force = false;
  bool quiet = false;
  bool verbose = false;
  bool help = false;
  std::uint64_t seed = 0;
  std::string config;  // --config; "" where not given
};

// What a verb has to say.
struct Reply {
  std::string text;  // for people
  std::string json;  // with --json
  // For -o, where that is not the answer itself (Command::document).
  std::optional<std::string> document;
  // To be written as well, by path.
  std::vector<std::pair<std::string, std::string>> files;
  // What failed after the work was done: told once the answer is out. The first decides the exit code; of work
  // that was interrupted (exit_code is a signal's) readers that are gone change nothing.
  std::vector<Error> failures;
  int exit_code = 0;

  Reply() = default;
  explicit Reply(const Answer& answer) : text(to_text(answer)), json(to_json(answer)) {}
};

inline constexpr int kExitNo = 1;  // the answer is no
// By a signal: 128 and its number. Of SIGPIPE the name stands for an error, EPIPE (main.cc).
inline constexpr int kExitInterrupted = 130, kExitReaderGone = 141;

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void declare(Flags& flags) = 0;
  virtual Result<Reply> run(const Shared& shared) = 0;
};

struct Command {
  std::string_view name;
  std::string_view summary;   // one line, for the list of verbs
  std::string_view about;     // paragraphs, for --help
  std::string_view document;  // what -o writes: "the plan"; "": the answer itself
  std::array<std::string_view, 2> examples;
  std::string_view see_also;
  std::unique_ptr<Verb> (*make)();
};

// All verbs, in the order in which a user meets them.
std::span<const Command> commands();

// The flags that every verb takes, then the verb's own. `shared` and `verb` must outlive `flags`.
void declare_all(Flags& flags, const Command& command, Verb& verb, Shared& shared);

// Everything after the program's name. Returns the exit code; throws nothing of ours.
int run_command_line(const std::vector<std::string>& arguments);

// 0 done, 1 the answer is no, 2 usage, 3 bad input, 4 unavailable, 5 the run failed, 70 internal,
// 130 interrupted (or as the signal that it was says: cli/interrupt.h), 141 nobody reads.
int exit_code(ErrorCode code);

}  // namespace penstock::cli
