#include "cli/text/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/flags.h"
#include "core/version.h"

namespace penstock::cli {
namespace {

// Text that roff sets as it stands: a minus that one can copy, no escapes, and no line that begins
// like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  // Words of our texts that are not ASCII.
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"…", "\\&..."},
                                 {"α", "\\(*a"},
                                 {"β", "\\(*b"},
                                 {"·", "\\(pc"},
                                 {"—", "\\(em"},
                                 {"–", "\\(en"},
                                 {"×", "\\(mu"},
                                 {"µ", "\\(mc"}}) {
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at))
      out.replace(at, from.size(), to);
  }
  return out;
}

std::string flag_item(const Flag& flag) {
  std::string names;
  for (std::size_t at = 0; at < flag.names.size();) {
    const std::size_t end = std::min(flag.names.find(',', at), flag.names.size());
    if (!names.empty()) names += ", ";
    names += fmt::format("\\fB{}\\fR", roff(flag.names.substr(at, end - at)));
    at = end + 1;
  }
  if (!flag.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(flag.value));
  return fmt::format(".TP\n{}\n{}\n", names, roff(flag.about));
}

// An example as one types it: a command that is broken over lines in the table is joined again.
std::string example(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += ' ';
    } else if (c != ' ' || out.empty() || out.back() != ' ') {
      out += c;
    }
  }
  return roff(out);
}

void append_verb(std::string& out, const Command& command, bool with_shared) {
  Shared shared;
  Flags flags;
  const std::unique_ptr<Verb> verb = command.make();
  declare_all(flags, command, *verb, shared);
  if (with_shared) {
    for (const Flag& flag : flags.flags()) {
      if (flag.shared) out += flag_item(flag);
    }
    return;
  }
  std::string usage = fmt::format("\\fBpenstock {}\\fR", roff(command.name));
  for (const Input& input : flags.inputs())
    usage += input.optional ? fmt::format(" [\\fI{}\\fR]", roff(input.name))
                            : fmt::format(" \\fI{}\\fR", roff(input.name));
  for (const Flag& flag : flags.flags()) {
    if (flag.required)
      usage += fmt::format(" \\fB{}\\fR \\fI{}\\fR", roff(flag.long_name()), roff(flag.value));
  }
  out += fmt::format(".SS {}\n{}\n.PP\n{}\n", roff(command.name), usage, roff(command.about));
  for (const Input& input : flags.inputs())
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(input.name), roff(input.about));
  for (const Flag& flag : flags.flags()) {
    if (!flag.shared) out += flag_item(flag);
  }
  out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const std::string_view text : command.examples) out += example(text) + "\n";
  out += ".RE\n.fi\n";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kExitCodes = {{
    {"0", "done"},
    {"1", "the answer is no: infeasible, a mismatch, a regression, a program that is not sound"},
    {"2", "usage"},
    {"3", "bad input: a file that is missing, damaged, or of another kind or version"},
    {"4", "the machine lacks something"},
    {"5", "the run failed: a rank hung, a loss is not finite"},
    {"70", "internal"},
    {"130", "interrupted; 143 terminated, 129 hung up"},
    {"141", "nobody reads standard output any more"},
}};

}  // namespace

std::string man_page(std::span<const Command> all) {
  std::string out = fmt::format(
      ".TH PENSTOCK 1 \"\" \"penstock {}\" \"User Commands\"\n"
      ".SH NAME\npenstock \\- plan, predict, run and explain pipeline\\-parallel training\n"
      ".SH SYNOPSIS\n\\fBpenstock\\fR \\fIVERB\\fR \\fIINPUT\\fR... [flags]\n.br\n"
      "\\fBpenstock help\\fR [\\fIVERB\\fR]\n.br\n\\fBpenstock help \\-\\-man\\fR\n"
      ".SH DESCRIPTION\n"
      "Penstock cuts a model over the devices of a cluster, proves and simulates the resulting\n"
      "program, runs that same program for real, and compares the two. Results go to standard\n"
      "output, talk to standard error. As an input \\fB\\-\\fR is standard input, after\n"
      "\\fB\\-o\\fR it is standard output. Files are never replaced without \\fB\\-\\-force\\fR.\n"
      ".SH VERBS\n",
      roff(version()));
  for (const Command& command : all)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(command.name), roff(command.summary));
  out += ".SH FLAGS OF EVERY VERB\n";
  if (!all.empty()) {
    Command any = all.front();
    any.document = "the document that the verb makes, or else its answer,";
    append_verb(out, any, true);
  }
  out += ".SH THE VERBS, ONE BY ONE\n";
  for (const Command& command : all) append_verb(out, command, false);
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodes)
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", code, roff(meaning));
  out +=
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBNO_COLOR\\fR\nif not empty, nothing is coloured\n"
      ".TP\n\\fBCLICOLOR\\fR\n0: nothing is coloured\n"
      ".TP\n\\fBCLICOLOR_FORCE\\fR\nif neither empty nor 0, colours also where standard output is no "
      "terminal\n"
      ".SH SEE ALSO\nThe documents in share/penstock/docs: the command line in full, every figure that "
      "is printed,\nthe formats of all files.\n";
  return out;
}

}  // namespace penstock::cli
