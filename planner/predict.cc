#include "planner/predict.h"

#include <fmt/format.h>

#include "core/program_check.h"
#include "planner/lower.h"
#include "sim/engine.h"

namespace penstock {
namespace {

// Steps simulated: the first fills the pipeline, the later ones are steady.
constexpr std::int32_t kSteps = 3;

Error refusal(const std::vector<Violation>& violations) {
  const Violation& first = violations.front();
  std::string message = fmt::format("rule {}: {}", first.rule, first.message);
  if (violations.size() > 1) message += fmt::format(" (and {} more)", violations.size() - 1);
  return {.code = ErrorCode::Infeasible, .message = std::move(message)};
}

}  // namespace

Result<Program> lay_out(Plan& plan) {
  PENSTOCK_TRY(Program program, lower(plan));
  for (std::size_t r = 0; r < plan.devices.size(); ++r)
    plan.devices[r].peak_memory_bytes = program.arena[r];
  return program;
}

Result<Nanoseconds> simulated_iteration_time(const Program& program) {
  if (const std::vector<Violation> violations = check(program); !violations.empty())
    return fail(refusal(violations));
  EngineOptions options;
  options.steps = kSteps;
  options.memory_counters = false;
  options.spans = false;
  PENSTOCK_TRY(const EngineResult result, simulate(program, options));
  const Nanoseconds time = iteration_time(result.timeline);
  if (time.value == 0)
    return fail(ErrorCode::Infeasible, "a step takes 0 ns: nothing in it takes any time",
                "there is nothing to plan; were the times measured?");
  return time;
}

Result<void> predict(Plan& plan) {
  PENSTOCK_TRY(const Program program, lay_out(plan));
  PENSTOCK_TRY(const Nanoseconds time, simulated_iteration_time(program));
  plan.iteration_time_s = seconds(time);
  plan.throughput_samples_per_s =
      static_cast<double>(plan.workload.global_batch) / plan.iteration_time_s;
  return {};
}

}  // namespace penstock
