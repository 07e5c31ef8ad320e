#pragma once

// One step's update rule with its numbers worked out, for every parameter of a stage.

#include <cstdint>

#include "core/optimizer.h"
#include "core/workload.h"
#include "exec/optimizer/adam.h"
#include "exec/optimizer/sgd.h"

namespace penstock {

class UpdateRule {
 public:
  // `step` counts from 0 in all of training. `factor`: of every gradient (exec/optimizer/gradient_norm.h), 1 without clipping.
  UpdateRule(const Optimizer& optimizer, std::int64_t step, std::int64_t microbatches, float factor);

  // A parameter's weights, gradient (cleared) and as many states as the optimizer keeps (null beyond those).
  void apply(const Parameter& parameter, float* weights, float* gradient, float* first, float* second) const;

 private:
  OptimizerKind kind_;
  SgdStep sgd_{};
  AdamStep adam_{};
  float statistic_decay_;
  float factor_;
};

}  // namespace penstock
