#pragma once

// Where stages say that a step's update is done. A step is complete when all of them have, and the steps before it are:
// then its losses are final and may be read, while later steps run.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/units.h"

namespace penstock {

class StepBoard {
 public:
  // `stages`: reports that make a step.
  StepBoard(std::int32_t steps, std::int32_t stages)
      : missing_(static_cast<std::size_t>(steps), stages), ends_(static_cast<std::size_t>(steps)) {}

  // From whichever thread did the update.
  void report(std::int32_t step);

  // The next complete step that has not been handed out yet, and how long it took: since the step before it was complete,
  // or since resume(), whichever came last. What a caller wrote before its report is visible to who takes the step.
  struct Completed {
    std::int32_t step;
    Nanoseconds took;
  };
  std::optional<Completed> take();

  // The clock of the step under way starts now: before the first step, and after a pause.
  void resume();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::vector<std::int32_t> missing_;  // reports, a step
  std::vector<Clock::time_point> ends_;
  Clock::time_point since_ = Clock::now();
  std::int32_t next_ = 0;  // to hand out
};

}  // namespace penstock
