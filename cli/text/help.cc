#include "cli/text/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kWidestLeft = 34;

// Rows of two columns; the right one is wrapped at blanks. What is wider than the left column has a
// line of its own.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) {
    if (left.size() <= kWidestLeft) width = std::max(width, left.size());
  }
  std::string out;
  for (const auto& [left, right] : rows) {
    std::string line = fmt::format("  {:<{}}  ", left, width);
    const std::string indent(width + 4, ' ');
    if (left.size() > width) {
      out += fmt::format("  {}\n", left);
      line = indent;
    }
    bool first = true;
    for (std::size_t at = 0; at < right.size();) {
      const std::size_t end = std::min(right.find(' ', at), right.size());
      const std::string word = right.substr(at, end - at);
      if (!first && line.size() + 1 + word.size() > kColumns) {
        out += line + '\n';
        line = indent;
        first = true;
      }
      line += (first ? "" : " ") + word;
      first = false;
      at = end + 1;
    }
    out += line + '\n';
  }
  return out;
}

std::string flag_text(const Flag& flag) {
  const std::size_t comma = flag.names.find(',');
  std::string names = comma == std::string::npos
                          ? "    " + flag.names
                          : flag.names.substr(0, comma) + ", " + flag.names.substr(comma + 1);
  return flag.value.empty() ? names : names + " " + flag.value;
}

std::string flag_table(const Flags& flags, bool shared) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Flag& flag : flags.flags()) {
    if (flag.shared == shared) rows.emplace_back(flag_text(flag), flag.about);
  }
  return two_columns(rows);
}

}  // namespace

std::string overview(std::span<const Command> all) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Command& command : all) rows.emplace_back(command.name, command.summary);
  return "Plans, predicts, runs and explains pipeline-parallel training.\n\n"
         "usage: penstock VERB INPUT... [flags]\n\n" +
         two_columns(rows) +
         "\nExit codes: 0 done, 1 the answer is no, 2 usage, 3 bad input, 4 the machine lacks "
         "something, 5 the run failed,\n"
         "70 internal, 130 interrupted (143 terminated, 129 hung up), 141 nobody reads the output.\n"
         "penstock VERB --help says more of a verb; penstock help --man prints a man page.\n";
}

std::string help(const Command& command, const Flags& flags) {
  std::string usage = fmt::format("usage: penstock {}", command.name);
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const Input& input : flags.inputs()) {
    usage += input.optional ? fmt::format(" [{}]", input.name) : " " + input.name;
    inputs.emplace_back(input.name, input.about);
  }
  for (const Flag& flag : flags.flags()) {
    if (flag.required) usage += fmt::format(" {} {}", flag.long_name(), flag.value);
  }
  std::string out = fmt::format("{}\n\n{} [flags]\n", command.about, usage);
  if (!inputs.empty()) out += "\n" + two_columns(inputs);
  if (const std::string own = flag_table(flags, false); !own.empty()) out += "\n" + own;
  out += "\n" + flag_table(flags, true);
  out += fmt::format("\nExamples:\n  {}\n  {}\n", command.examples[0], command.examples[1]);
  if (!command.see_also.empty()) out += fmt::format("\nSee also: {}\n", command.see_also);
  return out;
}

}  // namespace penstock::cli
