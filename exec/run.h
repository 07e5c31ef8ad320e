#pragma once

// Runs a plan for real: ranks of this process on the chosen backend, a measured timeline, the losses and a digest of the
// weights. Or, as reference, the same arithmetic on one device, one operation at a time.

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"

namespace penstock {

// A step that all ranks are done with.
struct StepReport {
  std::int64_t step = 0;  // from 0, in all of training
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;  // before clipping; where the optimizer clips
  Nanoseconds took;          // since the step before was complete, pauses left out
};

struct EvaluationReport {
  std::int64_t step = 0;  // steps done
  double loss = 0;        // mean over the batches
  std::optional<double> accuracy;  // of a loss over classes: the share whose class has the largest logit
};

// Forward passes over held-out data with the weights as they are, the workload's evaluation behaviour, nothing updated.
struct EvaluationOptions {
  std::string data;          // as RunOptions::data; "": no evaluation
  std::int64_t every = 0;    // steps; 0: only at the end
  std::int64_t batches = 8;  // of the global batch's size, the same ones each time
};

struct CheckpointOptions {
  std::string save;        // "": none. Written at the end, also of an interrupted run
  std::int64_t every = 0;  // and every so many steps; 0: only at the end
  std::string resume;      // "": from the start
};

struct RunOptions {
  // Done when the run ends, counted from the start of training: a run that resumes after 30 does 30 fewer.
  std::int32_t steps = 20;
  std::int32_t warmup_steps = 3;     // left out of the medians
  std::uint64_t seed = 0;
  std::string backend = "cpu";
  std::string data;                  // file or folder of text
  Nanoseconds deadline{30'000'000'000};  // of one instruction, at least; and at least 20 predicted iterations
  std::stop_token stop;              // finishes the steps under way: at most two beyond the slowest rank's; ends an evaluation at once
  EvaluationOptions evaluation;
  CheckpointOptions checkpoint;
  // Called by one thread at a time, in order of steps, soon after the fact.
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EvaluationReport&)> on_evaluation;
  std::function<void(const std::string&)> on_warning;
};

struct RunResult {
  Timeline timeline;                 // losses, digest, peaks counted by the executor
  std::string backend;
  std::string instruction_set;       // digests compare on one
  std::int64_t first_step = 0;       // done before this run
  std::int32_t steps = 0;            // done in it
  std::vector<EvaluationReport> evaluations;
  std::int64_t checkpoint_step = -1;  // steps in the checkpoint that was written last; −1: none was
  // Why the one of the end could not be; the rest of the result stands.
  std::optional<Error> checkpoint_failure;
  bool interrupted = false;           // before the last step, or in the evaluation after it
};

// The program must be the plan's, lowered and checked. RunFailed: a rank hung (with who waits for whom), or a loss that is
// not finite.
Result<RunResult> run(const Plan& plan, const Program& program, const RunOptions& options);

// What every synchronous plan of the same arithmetic equals bit for bit: the whole network as one stage, microbatch after
// microbatch, on one device.
Result<RunResult> run_reference(const Plan& plan, const RunOptions& options);

}  // namespace penstock
