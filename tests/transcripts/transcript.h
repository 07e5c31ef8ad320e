#pragma once

// A transcript: what a user types and what comes back, as a test. The form is line by line:
//
//   # a comment
//   @needs piper/bert.json       skip this transcript where that recorded file is absent (tests/support/recorded_data.h)
//   $ penstock plan gpt:layers=2 | head -1      a command, for /bin/sh
//   > …                          the command goes on (here documents)
//   stage 0: <number> ms         a line of stdout; a placeholder stands for what changes from run to run
//   ...                          any number of lines, also none
//   ! no such preset: <text>     some line of stderr; what else stands there does not matter
//   ? 3                          the exit code, where it is not 0
//
// Placeholders: <number> (sign, fraction, exponent), <hex> (hexadecimal digits), <text> (anything, at least one character).
// A stdout line that begins with one of # @ $ > ! ? or a backslash is written with a backslash in front.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace penstock::test {

struct Command {
  int line = 0;                     // where it stands in the transcript, from 1
  std::string text;                 // shell text
  std::vector<std::string> output;  // patterns of stdout, in order
  std::vector<std::string> errors;  // patterns, each of some line of stderr
  int exit_code = 0;
};

struct Transcript {
  std::vector<std::string> needs;  // recorded files
  std::vector<Command> commands;
};

// The error is "line N: what is wrong".
tl::expected<Transcript, std::string> parse_transcript(std::string_view text);

// True if `line` is what `pattern` describes, from its first character to its last.
bool matches(std::string_view pattern, std::string_view line);

// True if `lines` are what `patterns` describe, "..." lines included.
bool matches(const std::vector<std::string>& patterns, const std::vector<std::string>& lines);

// "a\nb\n" -> {"a", "b"}; a last line without its end counts.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace penstock::test
