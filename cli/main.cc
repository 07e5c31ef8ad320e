#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.h"

namespace {

// A standard stream that is closed would hand its number to the first file that is opened, and what is
// printed would end up in there. This way it is an error to read or to write it, as it should be.
void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) != -1) continue;
    if (open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number) return;
  }
}

}  // namespace

int main(int count, char** arguments) {
  occupy_standard_streams();
  // A reader that goes away is an error of the write, and training can still keep its state.
  std::signal(SIGPIPE, SIG_IGN);
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
