#pragma once

// Ctrl-C, kill and a closed terminal, for verbs that can stop early.

#include <chrono>
#include <csignal>
#include <stop_token>
#include <thread>

namespace penstock::cli {

// Signals this close behind the first are echoes of it, not a second one.
inline constexpr std::chrono::milliseconds kInterruptEcho{250};

// While it lives, SIGINT, SIGTERM and SIGHUP ask the token to stop, and a second one ends the process
// with exit code 128 + its number. Those that were ignored from the start (SIGINT of a job in the
// background, SIGHUP under nohup) stay ignored. Make it before other threads start: they inherit that
// these signals are not delivered to them. One at a time; it lives until the answer is out.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  std::stop_token token() const { return source_.get_token(); }

  // Asks to stop for another reason: `exit_code` says which. The first reason stands.
  void stop(int exit_code);

 private:
  std::stop_source source_;
  sigset_t signals_ = {}, mask_before_ = {};
  bool watching_ = false;
  std::jthread thread_;
};

// Why the last watch asked to stop, as an exit code: 130 for SIGINT, 143 for SIGTERM. 130 where none did.
int interrupted_exit_code();

}  // namespace penstock::cli
