#pragma once

// What the benches that compare predictions with runs share.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "exec/run.h"
#include "sim/engine.h"

namespace penstock::bench {

// The value, or the end of the program with the error.
template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(1);
}

inline double median(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  return sample[sample.size() / 2];
}

// Iteration times in seconds.
inline double simulated(const Program& program, bool contention = true) {
  EngineOptions options;
  options.steps = 3;
  options.contention = contention;
  return seconds(iteration_time(must(simulate(program, options)).timeline));
}

inline double measured(const Plan& plan, const Program& program, int steps, const std::string& data) {
  RunOptions options;
  options.steps = steps;
  options.data = data;
  return seconds(iteration_time(must(run(plan, program, options)).timeline));
}

}  // namespace penstock::bench
