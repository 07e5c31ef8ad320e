#pragma once

// Watches the streams of a run. When an instruction has taken longer than any plan foresees, it gives the run up and says
// which rank waits for whom, instead of hanging.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exec/interpreter.h"

namespace penstock {

// "rank 1 waits at RECV 1.7 e0 for 31.2 s; rank 0 has not reached SEND 0.7 e0: it runs F 0.7 since 31.3 s": follows each
// wait to the stream that should end it.
std::string wait_for_report(const std::vector<std::unique_ptr<Interpreter>>& ranks, Nanoseconds now);

class Watchdog {
 public:
  Watchdog(const std::vector<std::unique_ptr<Interpreter>>& ranks, Nanoseconds deadline, std::function<Nanoseconds()> clock,
           std::function<void()> poll);
  ~Watchdog();

 private:
  void watch(std::stop_token stop);

  const std::vector<std::unique_ptr<Interpreter>>& ranks_;
  Nanoseconds deadline_;
  std::function<Nanoseconds()> clock_;
  std::function<void()> poll_;  // called at every look
  std::jthread thread_;
};

}  // namespace penstock
