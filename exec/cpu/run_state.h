#pragma once

// What all CPU ranks of one run share: the clock's zero, and whether the run has been given up.

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "core/result.h"
#include "core/units.h"

namespace penstock::cpu {

class RunState {
 public:
  Nanoseconds now() const {
    return Nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - zero_).count());
  }

  const std::atomic<bool>& aborted() const { return aborted_; }

  // The first reason stands.
  void abort(const Error& reason) {
    const std::lock_guard lock(mutex_);
    if (!reason_) reason_ = reason;
    aborted_.store(true, std::memory_order_release);
  }

  std::optional<Error> reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  std::chrono::steady_clock::time_point zero_ = std::chrono::steady_clock::now();
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::optional<Error> reason_;
};

}  // namespace penstock::cpu
