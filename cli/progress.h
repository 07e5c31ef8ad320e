#pragma once

// One line on standard error that says how far something is, while it takes longer than a second.
// Only on a terminal, and not with -q; gone when the work is done.

#include <chrono>
#include <string>

#include "cli/command.h"

namespace penstock::cli {

class Progress {
 public:
  explicit Progress(const Shared& shared);
  // Shown to `descriptor` if `visible`: for tests.
  Progress(bool visible, int descriptor);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // At most ten times a second. Any one thread at a time.
  void show(const std::string& text);
  // "step 12 of 60, 45.3 a second, 2 s left". `done` of `of`, at the rate so far.
  void show(const std::string& what, std::int64_t done, std::int64_t of);

 private:
  using Clock = std::chrono::steady_clock;

  void put(const std::string& text);

  bool visible_;
  int descriptor_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace penstock::cli
