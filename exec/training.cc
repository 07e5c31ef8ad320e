#include "exec/training.h"

#include <fmt/core.h>

#include "core/replicas.h"
#include "exec/backend.h"
#include "exec/losses.h"

namespace penstock {

Training::Training(const Plan& plan, const RunOptions& options, std::int64_t first_step, std::int32_t steps,
                   std::int32_t updates)
    : plan_(plan), options_(options), identity_(CheckpointIdentity::of(plan, options.seed)), first_step_(first_step),
      steps_(steps), losses_(static_cast<std::size_t>(steps) * static_cast<std::size_t>(plan.microbatches * loss_parts(plan)), 0.0),
      gradient_norms_(static_cast<std::size_t>(steps), 0.0), board_(steps, updates) {}

Result<std::unique_ptr<Training>> Training::prepare(const Plan& plan, const RunOptions& options, const Shape& shape) {
  if (!options.checkpoint.save.empty()) PENSTOCK_TRY_VOID(checkpoint_target(options.checkpoint.save));
  std::optional<Checkpoint> resumed;
  std::string warning;
  if (!options.checkpoint.resume.empty()) {
    PENSTOCK_TRY(resumed, Checkpoint::load_latest(options.checkpoint.resume, CheckpointIdentity::of(plan, options.seed),
                                                  plan.workload, warning));
    if (!warning.empty() && options.on_warning) options.on_warning(warning);
  }
  const std::int64_t first = resumed ? resumed->step() : 0;
  const std::int64_t steps = options.steps - first;
  if (resumed && steps <= 0) {
    return fail(ErrorCode::Usage, fmt::format("the checkpoint has {} steps done, and {} are asked for", first, options.steps),
                fmt::format("--steps counts from the start of training: give more than {}", first));
  }
  if (steps <= 0 || steps % shape.round != 0) {
    return fail(ErrorCode::Usage, fmt::format("{} steps: a positive multiple of {} is needed", steps, shape.round));
  }
  if (steps > shape.most_steps) {
    return fail(ErrorCode::Usage,
                fmt::format("{} steps are more than the {} whose instructions can be recorded", steps, shape.most_steps),
                "run fewer steps at a time");
  }
  std::unique_ptr<Training> out(new Training(plan, options, first, static_cast<std::int32_t>(steps), shape.updates));
  if (!warning.empty() && options.checkpoint.save == options.checkpoint.resume) out->replaced_ = Replaced::Dropped;
  out->resumed_ = std::move(resumed);
  if (!options.evaluation.data.empty()) {
    PENSTOCK_TRY(const auto backend, open_backend(options.backend));
    PENSTOCK_TRY(auto device, backend->lone_device());
    PENSTOCK_TRY(out->evaluator_, Evaluator::make(plan, options.evaluation, options.seed, std::move(device)));
    const std::int64_t drawn = options.evaluation.batches * plan.workload.global_batch, images = out->evaluator_->images();
    if (images > 0 && drawn > images && options.on_warning) {
      options.on_warning(fmt::format("an evaluation draws {} samples from {} image{}: some are drawn more than once", drawn,
                                     images, images == 1 ? "" : "s"));
    }
  }
  return out;
}

Result<void> Training::restore(ParameterAccess& parameters) {
  if (!resumed_) return {};
  PENSTOCK_TRY_VOID(resumed_->restore(parameters));
  resumed_.reset();
  return {};
}

void Training::report() {
  const std::lock_guard lock(reporting_);
  while (const auto completed = board_.take()) {
    if (!options_.on_step) continue;
    const auto step = static_cast<std::size_t>(completed->step);
    StepReport report{.step = first_step_ + completed->step, .took = completed->took};
    report.loss = step_loss(losses_, plan_.microbatches * loss_parts(plan_), completed->step);
    report.learning_rate = learning_rate_at(plan_.workload.optimizer, report.step);
    report.gradient_norm = gradient_norms_[step];
    options_.on_step(report);
  }
}

bool Training::pauses_at(std::int32_t step) const {
  const std::int64_t done = first_step_ + step;
  const auto due = [&](std::int64_t every) { return step > 0 && every > 0 && done % every == 0; };
  return (evaluator_ && due(options_.evaluation.every)) || (!options_.checkpoint.save.empty() && due(options_.checkpoint.every));
}

// What cannot be saved on the way costs a warning, not the training; in the end the result tells of it.
void Training::save(std::int64_t done, const ParameterAccess& parameters, bool end) {
  auto saved = save_checkpoint(options_.checkpoint.save, identity_, done, plan_.workload, parameters, replaced_);
  if (saved) {
    replaced_ = Replaced::Kept;
    saved_ = done;
    return;
  }
  saved.error().code = ErrorCode::RunFailed;
  if (end) {
    failure_ = saved.error();
  } else if (options_.on_warning) {
    options_.on_warning(saved.error().text());
  }
}

Result<void> Training::pause(std::int32_t step, const ParameterAccess& parameters, bool end) {
  report();
  const std::int64_t done = first_step_ + step;
  const auto due = [&](std::int64_t every) { return end || (every > 0 && done % every == 0); };
  // The checkpoint first: an evaluation that fails must not cost it.
  if (!options_.checkpoint.save.empty() && due(options_.checkpoint.every) && saved_ != done) {
    save(done, parameters, end);
  }
  const bool interrupted = end && step < steps_, repeated = !evaluations_.empty() && evaluations_.back().step == done;
  if (evaluator_ && due(options_.evaluation.every) && !interrupted && !repeated) {
    const auto loss = evaluator_->loss(parameters, options_.stop);
    evaluation_stopped_ = !loss && loss.error().code == ErrorCode::Interrupted;
    if (!loss && !evaluation_stopped_) return fail(loss.error());
    if (loss) {
      evaluations_.push_back({.step = done, .loss = *loss, .accuracy = evaluator_->accuracy()});
      if (options_.on_evaluation) options_.on_evaluation(evaluations_.back());
    }
  }
  board_.resume();
  return {};
}

void Training::fill(RunResult& result, std::int32_t done) const {
  result.first_step = first_step_;
  result.steps = done;
  result.checkpoint_failure = failure_;
  result.interrupted = done < steps_ || evaluation_stopped_;
  result.evaluations = evaluations_;
  result.checkpoint_step = saved_;
  result.timeline.warmup_steps = std::min(options_.warmup_steps, std::max(0, done - 1));
  result.timeline.losses = step_losses(losses_, plan_.microbatches * loss_parts(plan_), done);
}

}  // namespace penstock
