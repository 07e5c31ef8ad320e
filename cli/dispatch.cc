#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "cli/arguments/config.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/text/help.h"
#include "cli/text/man_page.h"
#include "core/file.h"
#include "core/log.h"
#include "core/printable.h"

namespace penstock::cli {
namespace {

// The next thing to do where whoever found the error knew of nothing better.
std::string general_hint(std::string_view verb, const Error& error) {
  switch (error.code) {
    case ErrorCode::Usage:
      return verb.empty() ? "penstock --help" : fmt::format("penstock {} --help shows what goes", verb);
    case ErrorCode::BadInput:
      return error.where.line > 0 ? "docs/formats says what such a file holds"
                                  : "name a file that holds a document of the right kind";
    case ErrorCode::Unavailable:
      return "penstock doctor says what this machine lacks";
    case ErrorCode::Internal:
      return "this is our fault: please report it with the command";
    case ErrorCode::Infeasible:
    case ErrorCode::RunFailed:
    case ErrorCode::Interrupted:
    case ErrorCode::ReaderGone:
      break;
  }
  return "";
}

// On standard error. If that cannot be, the exit code still says what happened.
void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

int report(std::string_view verb, const Error& error) {
  // Whoever stopped reading the answer knows; of another pipe nothing else would say that it lacks something.
  if (error.code == ErrorCode::ReaderGone && error.where.file == "<stdout>") return exit_code(error.code);
  const std::string where = printable(error.where.text());
  std::string text = fmt::format("penstock{}{}: {}{}{}\n", verb.empty() ? "" : " ", verb, where,
                                 where.empty() ? "" : ": ", printable(error.message, true));
  const std::string hint = error.hint.empty() ? general_hint(verb, error) : error.hint;
  if (!hint.empty()) text += fmt::format("hint: {}\n", printable(hint, true));
  say(text);
  return exit_code(error.code);
}

int print(std::string_view verb, std::string_view text, int code = 0) {
  const auto written = write_file_atomic("-", text, Overwrite::No);
  return written ? code : report(verb, written.error());
}

const Command* find(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// What other tools call it.
constexpr std::pair<std::string_view, std::string_view> kOtherWords[] = {
    {"train", "run"},         {"execute", "run"},    {"predict", "simulate"}, {"partition", "plan"},
    {"search", "plan"},       {"measure", "profile"}, {"benchmark", "profile"}, {"verify", "check"},
    {"validate", "check"},    {"diff", "compare"},   {"report", "compare"},   {"draw", "schedule"}};

int unknown_verb(const std::string& given) {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  std::string_view meant = nearest(given, names);
  for (const auto& [word, verb] : kOtherWords) {
    if (word == given) meant = verb;
  }
  const bool flag = given.front() == '-';
  return report("", Error{.code = ErrorCode::Usage,
                          .message = flag ? fmt::format("the verb comes first, not {}", given)
                                          : fmt::format("there is no verb {}", given),
                          .hint = meant.empty() ? "penstock --help lists the verbs"
                                                : fmt::format("did you mean {}?", meant)});
}

}  // namespace

void declare_all(Flags& flags, const Command& command, Verb& verb, Shared& shared) {
  const std::string what = command.document.empty() ? "the answer" : std::string(command.document);
  flags.output("-o,--output", "FILE", fmt::format("write {} to a file (-: standard output)", what),
               shared.output);
  flags.toggle("--json", "print the answer as JSON", shared.json);
  flags.toggle("--force", "replace files that exist", shared.force);
  flags.add("--seed", "N", "of all that is random: initial weights, data (default 0)",
            seed_into(shared.seed));
  flags.add("--config", "FILE", "TOML: flags that hold where they are not given here",
            text_into(shared.config));
  flags.reads("--config", shared.config);
  flags.toggle("-q,--quiet", "say nothing on standard error but errors", shared.quiet);
  flags.toggle("-v,--verbose", "say more on standard error", shared.verbose);
  flags.toggle("-h,--help", "this text", shared.help);
  flags.mark_shared();
  verb.declare(flags);
}

namespace {

// What the outputs ask for, then the answer, unless standard output already carries a document. What
// cannot be written does not cost the rest, and least of all the answer. Returns the exit code.
int deliver(const Command& command, const Flags& flags, const Reply& reply, const Shared& shared) {
  std::vector<Error> failures = reply.failures;
  const auto keep = [&](const Result<void>& written) {
    if (!written) failures.push_back(written.error());
    return written.has_value();
  };
  const std::string& answer = shared.json ? reply.json : reply.text;
  const bool taken = takes_standard_output(flags.outputs());
  for (const auto& [path, contents] : reply.files) keep(write_output(path, contents, shared));
  bool print_answer = !taken;
  if (!shared.output.empty() && command.document.empty()) {
    const bool written = keep(write_output(shared.output, answer, shared));
    print_answer = !written && !taken;
  } else if (!shared.output.empty()) {
    PENSTOCK_CHECK(reply.document.has_value(), "a verb that writes a document made none");
    keep(write_output(shared.output, *reply.document, shared));
  }
  if (print_answer) keep(write_file_atomic("-", answer, Overwrite::No));
  // Who interrupts the work often ends the readers of its output in the same stroke: that it was interrupted is the news,
  // unless what the work itself was to keep is lost.
  const bool interrupted = reply.exit_code > 128;
  std::optional<int> decisive;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const int of_this = report(command.name, failures[i]);
    const bool of_the_work = i < reply.failures.size() && failures[i].code != ErrorCode::ReaderGone;
    if (!decisive && (!interrupted || of_the_work)) decisive = of_this;
  }
  return decisive.value_or(reply.exit_code);
}

int run_verb(const Command& command, const std::vector<std::string>& arguments) {
  Shared shared;
  Flags flags;
  const std::unique_ptr<Verb> verb = command.make();
  declare_all(flags, command, *verb, shared);
  const auto defaults = [&]() -> Result<std::vector<Default>> {
    if (shared.config.empty()) return std::vector<Default>();
    return read_config(shared.config, command.name);
  };
  if (const auto parsed = parse_arguments(flags, arguments, shared.help, defaults); !parsed)
    return report(command.name, parsed.error());
  if (shared.help) return print(command.name, help(command, flags));
  // One that is typed wins over one from a file.
  if (shared.quiet && shared.verbose && flags.typed("--quiet") != flags.typed("--verbose")) {
    shared.quiet = flags.typed("--quiet");
    shared.verbose = !shared.quiet;
  }
  if (shared.quiet && shared.verbose) {
    return report(command.name, {.code = ErrorCode::Usage,
                                 .message = "--quiet and --verbose contradict each other",
                                 .hint = "drop one of them"});
  }
  if (shared.quiet) set_log_level(LogLevel::Error);
  if (shared.verbose) set_log_level(LogLevel::Debug);
  if (const auto free = check_outputs(flags.outputs(), flags.files_read(), shared); !free)
    return report(command.name, free.error());
  print_for_file(command.document.empty() && !shared.output.empty() && shared.output != "-");
  const auto reply = verb->run(shared);
  if (!reply) return report(command.name, reply.error());
  return deliver(command, flags, *reply, shared);
}

}  // namespace

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::Infeasible:
      return kExitNo;
    case ErrorCode::Usage:
      return 2;
    case ErrorCode::BadInput:
      return 3;
    case ErrorCode::Unavailable:
      return 4;
    case ErrorCode::RunFailed:
      return 5;
    case ErrorCode::Internal:
      return 70;
    case ErrorCode::Interrupted:
      return interrupted_exit_code();
    case ErrorCode::ReaderGone:
      return kExitReaderGone;
  }
  return 70;
}

int run_command_line(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first.empty()) {
    say(overview(commands()));
    return exit_code(ErrorCode::Usage);
  }
  if (first == "--version") return run_command_line({"version"});
  const bool wants_help = first == "-h" || first == "--help" || first == "help";
  if (wants_help && arguments.size() == 1) return print("", overview(commands()));
  if (wants_help && arguments[1] == "--man") return print("", man_page(commands()));
  if (wants_help) return run_command_line({arguments[1], "--help"});
  const Command* command = find(first);
  if (command == nullptr) return unknown_verb(first);
  return run_verb(*command, {arguments.begin() + 1, arguments.end()});
}

}  // namespace penstock::cli
