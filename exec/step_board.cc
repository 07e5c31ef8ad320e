#include "exec/step_board.h"

#include <algorithm>

namespace penstock {

void StepBoard::report(std::int32_t step) {
  const std::lock_guard lock(mutex_);
  const auto s = static_cast<std::size_t>(step);
  --missing_[s];
  ends_[s] = std::max(ends_[s], Clock::now());
}

std::optional<StepBoard::Completed> StepBoard::take() {
  const std::lock_guard lock(mutex_);
  const auto s = static_cast<std::size_t>(next_);
  if (s >= missing_.size() || missing_[s] > 0) return std::nullopt;
  // A stage may be done with its part of a step before another is done with the step before.
  const Clock::time_point end = std::max(ends_[s], since_);
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(end - since_);
  since_ = end;
  return Completed{.step = next_++, .took = Nanoseconds(took.count())};
}

void StepBoard::resume() {
  const std::lock_guard lock(mutex_);
  since_ = Clock::now();
}

}  // namespace penstock
