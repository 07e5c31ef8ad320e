// run_transcripts [--penstock PROGRAM] FILE.t…: types the commands of each transcript in a folder of its own and compares
// what comes back. Exit code 0: all as written; 1: some were not; 2: usage; 77: all were skipped.
// In the commands, penstock is PROGRAM, $GOLDEN is tests/golden and $DATA the folder of recorded files.

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/recorded_data.h"
#include "tests/transcripts/transcript.h"

namespace penstock::test {
namespace {

constexpr int kSkipped = 77;

struct Outcome {
  std::vector<std::string> output;
  std::vector<std::string> errors;
  int exit_code = 0;
};

// The command's files lie outside its folder, so that a transcript which lists the folder sees only its own.
Outcome run(const Command& command, const std::filesystem::path& folder, const TempDir& files) {
  write_file(files / "script", command.text + "\n");
  const std::string shell = fmt::format("cd '{}' && /bin/sh '{}' >'{}' 2>'{}' </dev/null", folder.string(),
                                        (files / "script").string(), (files / "out").string(), (files / "err").string());
  const int status = std::system(shell.c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.output = split_lines(read_file(files / "out"));
  outcome.errors = split_lines(read_file(files / "err"));
  return outcome;
}

// What differs, or "".
std::string difference(const Command& command, const Outcome& outcome) {
  if (outcome.exit_code != command.exit_code) {
    return fmt::format("exit code {}, expected {}", outcome.exit_code, command.exit_code);
  }
  if (!matches(command.output, outcome.output)) return "stdout differs";
  for (const std::string& pattern : command.errors) {
    const auto& lines = outcome.errors;
    if (std::none_of(lines.begin(), lines.end(), [&](const auto& line) { return matches(pattern, line); })) {
      return fmt::format("no line of stderr is: {}", pattern);
    }
  }
  return "";
}

void print_block(const char* title, const std::vector<std::string>& lines) {
  fmt::print("  {}:\n", title);
  for (const std::string& line : lines) fmt::print("    {}\n", line);
}

// 0, 1 or kSkipped.
int run_file(const std::filesystem::path& path) {
  const auto transcript = parse_transcript(read_file(path));
  if (!transcript) {
    fmt::print("{}: {}\n", path.string(), transcript.error());
    return 1;
  }
  for (const std::string& need : transcript->needs) {
    const std::string missing = missing_data(need);
    if (missing.empty()) continue;
    // The two lines that GoogleTest prints for a skipped case, so that both are counted alike.
    fmt::print("{}: {}\n{}\n", path.string(), absence_is_failure() ? "Failure" : "Skipped", missing);
    return absence_is_failure() ? 1 : kSkipped;
  }
  const TempDir folder, files;
  for (const Command& command : transcript->commands) {
    const Outcome outcome = run(command, folder.path(), files);
    const std::string what = difference(command, outcome);
    if (what.empty()) continue;
    fmt::print("{}:{}: {}\n  $ {}\n", path.string(), command.line, what, command.text);
    print_block("expected stdout", command.output);
    print_block("stdout", outcome.output);
    print_block("stderr", outcome.errors);
    return 1;
  }
  return 0;
}

// An environment in which output does not depend on who runs it.
void set_environment(const std::filesystem::path& program) {
  if (!program.empty()) {
    const char* path = std::getenv("PATH");
    setenv("PATH", fmt::format("{}:{}", program.parent_path().string(), path != nullptr ? path : "").c_str(), 1);
  }
  setenv("LC_ALL", "C", 1);
  setenv("TZ", "UTC", 1);
  setenv("NO_COLOR", "1", 1);
  setenv("COLUMNS", "100", 1);
  setenv("GOLDEN", golden_path("").c_str(), 1);
  setenv("DATA", data_path("").c_str(), 1);
}

int run_all(std::vector<std::string> arguments) {
  std::filesystem::path program;
  if (arguments.size() >= 2 && arguments[0] == "--penstock") {
    program = std::filesystem::absolute(arguments[1]);
    arguments.erase(arguments.begin(), arguments.begin() + 2);
    if (program.filename() != "penstock" || !std::filesystem::exists(program)) {
      fmt::print(stderr, "no program of the name penstock: {}\n", program.string());
      return 2;
    }
  }
  if (arguments.empty()) {
    fmt::print(stderr, "usage: run_transcripts [--penstock PROGRAM] FILE.t...\n");
    return 2;
  }
  set_environment(program);
  std::size_t skipped = 0;
  bool failed = false;
  for (const std::string& file : arguments) {
    const int code = run_file(file);
    failed = failed || code == 1;
    skipped += code == kSkipped ? 1 : 0;
  }
  if (failed) return 1;
  return skipped == arguments.size() ? kSkipped : 0;
}

}  // namespace
}  // namespace penstock::test

int main(int count, char** arguments) {
  return penstock::test::run_all(std::vector<std::string>(arguments + 1, arguments + count));
}
