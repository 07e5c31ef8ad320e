#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "cli/command.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "core/file.h"
#include "core/log.h"

namespace penstock::cli {
namespace {

int report(std::string_view verb, const Error& error) {
  const std::string where = error.where.text();
  fmt::print(stderr, "penstock{}{}: {}{}{}\n", verb.empty() ? "" : " ", verb, where,
             where.empty() ? "" : ": ", error.message);
  if (!error.hint.empty()) fmt::print(stderr, "hint: {}\n", error.hint);
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

int unknown_verb(const std::string& given) {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string_view meant = nearest(given, names);
  const bool flag = given.front() == '-';
  return report("", Error{.code = ErrorCode::Usage,
                          .message = flag ? fmt::format("the verb comes first, not {}", given)
                                          : fmt::format("there is no verb {}", given),
                          .hint = meant.empty() ? "penstock --help lists the verbs"
                                                : fmt::format("did you mean {}?", meant)});
}

void declare_shared(Flags& flags, const Command& command, Shared& shared) {
  const std::string what = command.document.empty() ? "the answer" : std::string(command.document);
  flags.output("-o,--output", "FILE", fmt::format("write {} to a file (-: standard output)", what),
               shared.output);
  flags.toggle("--json", "print the answer as JSON", shared.json);
  flags.toggle("--force", "replace files that exist", shared.force);
  flags.add("--seed", "N", "of all that is random: initial weights, data (default 0)",
            seed_into(shared.seed));
  flags.toggle("-q,--quiet", "say nothing on standard error but errors", shared.quiet);
  flags.toggle("-v,--verbose", "say more on standard error", shared.verbose);
  flags.toggle("-h,--help", "this text", shared.help);
  flags.mark_shared();
}

// What -o asks for, then the answer, unless standard output already carries the document.
Result<void> deliver(const Command& command, const Flags& flags, const Reply& reply,
                     const Shared& shared) {
  const std::string& answer = shared.json ? reply.json : reply.text;
  const bool taken = takes_standard_output(flags.outputs());
  if (shared.output.empty() && taken) return {};
  if (shared.output.empty()) return write_file_atomic("-", answer, Overwrite::No);
  if (command.document.empty()) return write_output(shared.output, answer, shared);
  PENSTOCK_CHECK(reply.document.has_value(), "a verb that writes a document made none");
  PENSTOCK_TRY_VOID(write_output(shared.output, *reply.document, shared));
  return taken ? Result<void>() : write_file_atomic("-", answer, Overwrite::No);
}

int run_verb(const Command& command, const std::vector<std::string>& arguments) {
  Shared shared;
  Flags flags;
  const std::unique_ptr<Verb> verb = command.make();
  declare_shared(flags, command, shared);
  verb->declare(flags);
  if (const auto parsed = parse_arguments(flags, arguments, shared.help); !parsed)
    return report(command.name, parsed.error());
  if (shared.help) return print(command.name, help(command, flags));
  if (shared.quiet) set_log_level(LogLevel::Error);
  if (shared.verbose) set_log_level(LogLevel::Debug);
  if (const auto free = check_outputs(flags.outputs(), shared); !free)
    return report(command.name, free.error());
  const auto reply = verb->run(shared);
  if (!reply) return report(command.name, reply.error());
  if (const auto delivered = deliver(command, flags, *reply, shared); !delivered)
    return report(command.name, delivered.error());
  return reply->exit_code;
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
      return kExitInterrupted;
  }
  return 70;
}

int run_command_line(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first.empty()) {
    fmt::print(stderr, "{}", overview(commands()));
    return exit_code(ErrorCode::Usage);
  }
  if (first == "--version") return run_command_line({"version"});
  const bool wants_help = first == "-h" || first == "--help" || first == "help";
  if (wants_help && arguments.size() == 1) return print("", overview(commands()));
  if (wants_help) return run_command_line({arguments[1], "--help"});
  const Command* command = find(first);
  if (command == nullptr) return unknown_verb(first);
  return run_verb(*command, {arguments.begin() + 1, arguments.end()});
}

}  // namespace penstock::cli
