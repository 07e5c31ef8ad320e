#pragma once

// What a run and its reference have in common around the steps themselves: where training starts, what each step reports,
// and what happens between steps (evaluations, checkpoints). Steps here count from the start of the run unless named `done`,
// which counts from the start of training.

#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "exec/checkpoint.h"
#include "exec/evaluator.h"
#include "exec/parameters.h"
#include "exec/run.h"
#include "exec/step_board.h"

namespace penstock {

class Training {
 public:
  struct Shape {
    std::int32_t updates = 1;  // that make a step
    std::int32_t round = 1;    // steps come in multiples of it
    std::int64_t most_steps = std::numeric_limits<std::int32_t>::max();  // whose instructions can be recorded
  };
  // Reads the checkpoint to resume from and the data to evaluate on. Usage: not a number of steps that can be done. `plan` and
  // `options` outlive it.
  static Result<std::unique_ptr<Training>> prepare(const Plan& plan, const RunOptions& options, const Shape& shape);

  std::int64_t first_step() const { return first_step_; }
  std::int32_t steps() const { return steps_; }
  double* losses() { return losses_.data(); }                  // [step][microbatch][part] (core/replicas.h: loss_parts)
  double* gradient_norms() { return gradient_norms_.data(); }  // [step]
  StepBoard* board() { return &board_; }

  // Before the first step: the values of the checkpoint, if there is one; then it is forgotten.
  Result<void> restore(ParameterAccess& parameters);
  void begin() { board_.resume(); }

  // Hands on the steps that have become complete. Any thread.
  void report();

  // Whether there is something to do when so many steps are done, before the end.
  bool pauses_at(std::int32_t step) const;
  // Does it, while nothing else runs. The last time (`end`), everything. RunFailed: an evaluation's loss is not finite.
  Result<void> pause(std::int32_t step, const ParameterAccess& parameters, bool end);

  // Losses, evaluations, what was saved; `done` steps of this run.
  void fill(RunResult& result, std::int32_t done) const;

 private:
  void save(std::int64_t done, const ParameterAccess& parameters, bool end);
  Training(const Plan& plan, const RunOptions& options, std::int64_t first_step, std::int32_t steps, std::int32_t updates);

  const Plan& plan_;
  const RunOptions& options_;
  CheckpointIdentity identity_;
  std::int64_t first_step_;
  std::int32_t steps_;
  std::vector<double> losses_, gradient_norms_;
  StepBoard board_;
  std::mutex reporting_;
  std::optional<Checkpoint> resumed_;
  Replaced replaced_ = Replaced::Kept;
  std::unique_ptr<Evaluator> evaluator_;
  std::vector<EvaluationReport> evaluations_;
  std::int64_t saved_ = -1;
  std::optional<Error> failure_;    // of the checkpoint in the end
  bool evaluation_stopped_ = false;
};

}  // namespace penstock
