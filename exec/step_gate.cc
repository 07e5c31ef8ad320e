#include "exec/step_gate.h"

namespace penstock {

bool StepGate::enter(std::int32_t repetition) {
  const std::lock_guard lock(mutex_);
  if (repetition >= limit_) return false;
  furthest_ = std::max(furthest_, repetition + 1);
  return true;
}

Result<bool> StepGate::meet(std::int32_t repetition) {
  std::unique_lock lock(mutex_);
  // Whoever comes after the gate was closed leaves; so do those who wait already, see below.
  if (abandoned_ || repetition >= limit_) return false;
  const std::int32_t held = meetings_held_;
  if (++arrived_ == meetings_.ranks) {
    lock.unlock();  // close() must not wait for a long meeting
    const Result<void> attended = meetings_.attend(repetition);
    lock.lock();
    arrived_ = 0;
    ++meetings_held_;
    if (!attended) abandoned_ = true;
    changed_.notify_all();
    if (!attended) return fail(attended.error());
  } else {
    // The one that attends goes on to the end even if the gate closes meanwhile: it reads what these ranks hold, which
    // lives until all have been joined.
    changed_.wait(lock, [&] { return held != meetings_held_ || abandoned_ || repetition >= limit_; });
  }
  return !abandoned_ && repetition < limit_;
}

void StepGate::close() {
  const std::lock_guard lock(mutex_);
  limit_ = std::min(limit_, furthest_);
  changed_.notify_all();
}

void StepGate::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

std::int32_t StepGate::repetitions() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace penstock
