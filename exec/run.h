#pragma once

// Runs a plan for real: ranks of this process on the chosen backend, a measured timeline, the losses and a digest of the
// weights. Or, as reference, the same arithmetic on one device, one operation at a time.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"

namespace penstock {

struct RunOptions {
  std::int32_t steps = 20;
  std::int32_t warmup_steps = 3;     // left out of the medians
  std::uint64_t seed = 0;
  std::string backend = "cpu";
  std::string data;                  // file or folder of text
  Nanoseconds deadline{30'000'000'000};  // of one instruction, at least; and at least 20 predicted iterations
  std::stop_token stop;              // finishes the steps under way: at most two beyond the slowest rank's
  std::function<void(std::int32_t step)> progress;  // called now and then with the step under way
};

struct RunResult {
  Timeline timeline;                 // losses, digest, peaks counted by the executor
  std::string backend;
  std::string instruction_set;       // digests compare on one
  std::int32_t steps = 0;            // done
  bool interrupted = false;
};

// Unavailable, naming those there are, unless this build has the backend.
Result<void> check_backend(const std::string& backend);

// The program must be the plan's, lowered and checked. RunFailed: a rank hung (with who waits for whom), or a loss that is
// not finite.
Result<RunResult> run(const Plan& plan, const Program& program, const RunOptions& options);

// What every synchronous plan of the same arithmetic equals bit for bit: the whole network as one stage, microbatch after
// microbatch, on one device.
Result<RunResult> run_reference(const Plan& plan, const RunOptions& options);

}  // namespace penstock
