#include "cli/interrupt.h"

#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/log.h"

namespace penstock::cli {
namespace {

bool ignored_from_the_start() {
  struct sigaction action = {};
  return sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// A thread that waits for the signal may do what a signal handler must not: request a stop, and
// talk.
void watch(std::stop_source source) {
  if (ignored_from_the_start()) return;
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  std::thread([source, interrupts]() mutable {
    int signal = 0;
    sigwait(&interrupts, &signal);
    source.request_stop();
    log_info("stopping; interrupt once more to end at once");
    sigwait(&interrupts, &signal);
    std::_Exit(130);
  }).detach();
}

}  // namespace

std::stop_token stop_on_interrupt() {
  static const std::stop_source source = [] {
    std::stop_source made;
    watch(made);
    return made;
  }();
  return source.get_token();
}

}  // namespace penstock::cli
