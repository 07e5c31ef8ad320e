#pragma once

// What makes a shell complete penstock's command line: a script in the shell's own language, from the
// same table of commands that the parser and --help read, and with the names of what is built in.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/command.h"

namespace penstock::cli {

enum class Shell : std::uint8_t { Bash, Zsh, Fish };
constexpr auto enum_names(Shell) {
  return std::to_array<std::pair<Shell, std::string_view>>(
      {{Shell::Bash, "bash"}, {Shell::Zsh, "zsh"}, {Shell::Fish, "fish"}});
}

// Completes verbs, flags, the values of flags that have few, schedules, workloads, clusters and
// strategies by name, and files where a file is expected.
std::string completion_script(Shell shell, std::span<const Command> all);

}  // namespace penstock::cli
