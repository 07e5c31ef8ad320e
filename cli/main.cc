#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.h"

int main(int count, char** arguments) {
  // Ours does not throw; what the standard library throws (no memory left) must not end in a core
  // dump.
  try {
    return penstock::cli::run_command_line(
        std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock: internal error: %s\n", error.what());
    return penstock::cli::exit_code(penstock::ErrorCode::Internal);
  }
}
