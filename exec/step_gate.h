#pragma once

// Lets all ranks of a run stop after the same step: a rank asks before it issues a repetition of the body, and once the gate
// is closed nobody starts one that no other rank has started.

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace penstock {

class StepGate {
 public:
  explicit StepGate(std::int32_t repetitions) : limit_(repetitions) {}

  bool enter(std::int32_t repetition) {
    const std::lock_guard lock(mutex_);
    if (repetition >= limit_) return false;
    furthest_ = std::max(furthest_, repetition + 1);
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    limit_ = std::min(limit_, furthest_);
  }
  // Repetitions that every rank runs, once the run is over.
  std::int32_t repetitions() const {
    const std::lock_guard lock(mutex_);
    return limit_;
  }

 private:
  mutable std::mutex mutex_;
  std::int32_t limit_;
  std::int32_t furthest_ = 0;
};

}  // namespace penstock
