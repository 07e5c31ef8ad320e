#include "tests/transcripts/transcript.h"

#include <fmt/core.h>

#include <charconv>
#include <regex>

namespace penstock::test {
namespace {

// "$ command" -> "command". A mark alone on its line ("$") is empty, not a mistake of the parser's.
std::string rest(std::string_view line) {
  line.remove_prefix(1);
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return std::string(line);
}

bool parse_code(std::string_view text, int& code) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() && end == text.data() + text.size();
}

std::string regex_of(std::string_view pattern) {
  struct Placeholder {
    std::string_view name, regex;
  };
  static constexpr Placeholder kPlaceholders[] = {
      {"<number>", R"([-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)"}, {"<hex>", "[0-9a-fA-F]+"}, {"<text>", ".+"}};
  std::string regex;
  for (std::size_t at = 0; at < pattern.size();) {
    bool replaced = false;
    for (const Placeholder& placeholder : kPlaceholders) {
      if (pattern.substr(at, placeholder.name.size()) != placeholder.name) continue;
      regex += placeholder.regex;
      at += placeholder.name.size();
      replaced = true;
      break;
    }
    if (replaced) continue;
    if (std::string_view(R"(^$\.*+?()[]{}|)").find(pattern[at]) != std::string_view::npos) regex += '\\';
    regex += pattern[at++];
  }
  return regex;
}

bool match_from(const std::vector<std::string>& patterns, std::size_t p, const std::vector<std::string>& lines,
                std::size_t l) {
  for (; p < patterns.size(); ++p, ++l) {
    if (patterns[p] == "...") {
      for (std::size_t next = l; next <= lines.size(); ++next) {
        if (match_from(patterns, p + 1, lines, next)) return true;
      }
      return false;
    }
    if (l >= lines.size() || !matches(patterns[p], lines[l])) return false;
  }
  return l == lines.size();
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

tl::expected<Transcript, std::string> parse_transcript(std::string_view text) {
  Transcript transcript;
  int number = 0;
  bool typing = false;  // still inside the text of the last command
  for (const std::string& line : split_lines(text)) {
    ++number;
    const char mark = line.empty() ? '\0' : line.front();
    if (mark == '#') continue;
    if (mark == '@') {
      if (line.rfind("@needs ", 0) != 0) return tl::unexpected(fmt::format("line {}: not a directive: {}", number, line));
      transcript.needs.push_back(line.substr(7));
      continue;
    }
    if (mark == '$') {
      transcript.commands.push_back({.line = number, .text = rest(line), .output = {}, .errors = {}});
      typing = true;
      continue;
    }
    if (transcript.commands.empty()) {
      if (line.empty()) continue;
      return tl::unexpected(fmt::format("line {}: output before the first command", number));
    }
    Command& command = transcript.commands.back();
    if (mark == '>') {
      if (!typing) return tl::unexpected(fmt::format("line {}: '>' continues a command, and none comes before it", number));
      command.text += "\n" + rest(line);
      continue;
    }
    typing = false;
    if (mark == '!') {
      command.errors.push_back(rest(line));
    } else if (mark == '?') {
      if (!parse_code(rest(line), command.exit_code)) {
        return tl::unexpected(fmt::format("line {}: not an exit code: {}", number, line));
      }
    } else {
      command.output.push_back(mark == '\\' ? line.substr(1) : line);
    }
  }
  if (transcript.commands.empty()) return tl::unexpected(std::string("line 1: no command"));
  // Empty lines at the end of a command's output separate it from what follows.
  for (Command& command : transcript.commands) {
    while (!command.output.empty() && command.output.back().empty()) command.output.pop_back();
  }
  return transcript;
}

bool matches(std::string_view pattern, std::string_view line) {
  if (pattern.find('<') == std::string_view::npos) return pattern == line;
  return std::regex_match(line.begin(), line.end(), std::regex(regex_of(pattern)));
}

bool matches(const std::vector<std::string>& patterns, const std::vector<std::string>& lines) {
  return match_from(patterns, 0, lines, 0);
}

}  // namespace penstock::test
