#pragma once

// Losses of steps from those of their microbatches, added in microbatch order whatever the schedule.

#include <cstdint>
#include <vector>

namespace penstock {

// Rows of a loss over classes, and of how many the class that is asked for has the largest logit (of equal ones the first).
struct Hits {
  std::int64_t right = 0, rows = 0;
};

inline double step_loss(const std::vector<double>& losses, std::int64_t microbatches, std::int64_t step) {
  double sum = 0;
  for (std::int64_t m = 0; m < microbatches; ++m) sum += losses[static_cast<std::size_t>(step * microbatches + m)];
  return sum;
}

inline std::vector<double> step_losses(const std::vector<double>& losses, std::int64_t microbatches, std::int32_t steps) {
  std::vector<double> out;
  for (std::int32_t step = 0; step < steps; ++step) out.push_back(step_loss(losses, microbatches, step));
  return out;
}

}  // namespace penstock
