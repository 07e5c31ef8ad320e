#include "cli/interrupt.h"

#include <chrono>
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

// One press of Ctrl-C may arrive several times: the terminal sends it to the whole group, and a
// parent in that group (timeout, npm, a container's init) passes on the one it got itself.
void swallow_echoes(const sigset_t& interrupts) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + kInterruptEcho;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
    if (left.count() <= 0) return;
    const timespec wait = {.tv_sec = 0, .tv_nsec = left.count()};
    sigtimedwait(&interrupts, nullptr, &wait);
  }
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
    swallow_echoes(interrupts);
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
