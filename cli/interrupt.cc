#include "cli/interrupt.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "cli/command.h"
#include "core/log.h"

namespace penstock::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kNone = 0;

std::atomic<int> why = kNone;

void keep_reason(int code) {
  int none = kNone;
  why.compare_exchange_strong(none, code);
}

bool ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// One press of Ctrl-C may arrive several times: the terminal sends it to the whole group, and a
// parent in that group (timeout, npm, a container's init) passes on the one it got itself.
void swallow_echoes(const sigset_t& signals, const std::stop_token& over) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + kInterruptEcho;
  while (!over.stop_requested()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
    if (left.count() <= 0) return;
    const timespec wait = {.tv_sec = 0, .tv_nsec = left.count()};
    sigtimedwait(&signals, nullptr, &wait);
  }
}

// Until a signal arrives (its number) or the watch is over (0), which sends one itself.
int next_signal(const sigset_t& signals, const std::stop_token& over) {
  int signal = 0;
  if (!over.stop_requested()) sigwait(&signals, &signal);
  return over.stop_requested() ? 0 : signal;
}

// A thread that waits for the signal may do what a signal handler must not: request a stop, and
// talk.
void watch(const std::stop_token& over, std::stop_source source, const sigset_t& signals) {
  const int first = next_signal(signals, over);
  if (first == 0) return;
  keep_reason(128 + first);
  source.request_stop();
  log_info("stopping; interrupt once more to end at once");
  swallow_echoes(signals, over);
  const int second = next_signal(signals, over);
  if (second != 0) std::_Exit(128 + second);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  why = kNone;
  sigemptyset(&signals_);
  for (const int signal : kSignals) {
    if (ignored(signal)) continue;
    sigaddset(&signals_, signal);
    watching_ = true;
  }
  if (!watching_) return;
  pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
  thread_ = std::jthread([this](const std::stop_token& over) { watch(over, source_, signals_); });
}

InterruptWatch::~InterruptWatch() {
  if (!watching_) return;
  thread_.request_stop();
  for (const int signal : kSignals) {
    if (sigismember(&signals_, signal) == 0) continue;
    pthread_kill(thread_.native_handle(), signal);  // to that thread alone, to wake it
    break;
  }
  thread_.join();
  // What came too late to matter must not end the process now.
  const timespec at_once = {};
  while (sigtimedwait(&signals_, nullptr, &at_once) > 0) continue;
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void InterruptWatch::stop(int exit_code) {
  keep_reason(exit_code);
  source_.request_stop();
}

int interrupted_exit_code() {
  const int code = why;
  return code == kNone ? kExitInterrupted : code;
}

}  // namespace penstock::cli
