#include "core/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/invalid.h"

namespace penstock {
namespace {

double share_of_rate(const LearningRateSchedule& schedule, std::int64_t step) {
  if (step < schedule.warmup)
    return static_cast<double>(step + 1) / static_cast<double>(schedule.warmup);
  const std::int64_t since = step - schedule.warmup;
  const auto progress = [&] {
    const std::int64_t length = schedule.steps - schedule.warmup;
    return since >= length ? 1.0 : static_cast<double>(since) / static_cast<double>(length);
  };
  switch (schedule.kind) {
    case DecayKind::Constant:
      break;
    case DecayKind::Linear:
      return 1 - (1 - schedule.final) * progress();
    case DecayKind::Cosine:
      return schedule.final +
             (1 - schedule.final) * (1 + std::cos(std::numbers::pi * progress())) / 2;
    case DecayKind::Step:
      return std::pow(schedule.factor, static_cast<double>(since / schedule.every));
  }
  return 1;
}

// A number of the optimizer, by its key. NaN is in no range.
Result<void> check_setting(std::string_view key, double value, bool in_range,
                           std::string_view range) {
  if (in_range && std::isfinite(value)) return {};
  std::string words(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return invalid(fmt::format("/optimizer/{}", key), fmt::format("the {} is {}", words, value),
                 std::string(range));
}

Result<void> check_schedule(const LearningRateSchedule& x) {
  const auto refuse = [](std::string_view key, auto value, std::string range) {
    return invalid(fmt::format("/optimizer/schedule/{}", key),
                   fmt::format("{} of the learning rate's schedule is {}", key, value),
                   std::move(range));
  };
  if (x.warmup < 0) return refuse("warmup", x.warmup, "0 steps or more");
  if (x.kind == DecayKind::Linear || x.kind == DecayKind::Cosine) {
    if (x.steps <= x.warmup)
      return refuse("steps", x.steps, fmt::format("more than the warm-up's {}", x.warmup));
    if (!(x.final >= 0 && x.final <= 1)) return refuse("final", x.final, "a fraction from 0 to 1");
  }
  if (x.kind == DecayKind::Step) {
    if (x.every < 1) return refuse("every", x.every, "1 step or more");
    if (!(x.factor > 0 && x.factor <= 1))
      return refuse("factor", x.factor, "a fraction above 0, at most 1");
  }
  return {};
}

}  // namespace

Optimizer default_optimizer(OptimizerKind kind) {
  Optimizer out;
  out.kind = kind;
  if (kind != OptimizerKind::Sgd) out.learning_rate = 1e-3;
  if (kind == OptimizerKind::AdamW) out.weight_decay = 0.01;
  return out;
}

double learning_rate_at(const Optimizer& optimizer, std::int64_t step) {
  return optimizer.learning_rate * share_of_rate(optimizer.schedule, step);
}

Result<void> validate(const Optimizer& x) {
  PENSTOCK_TRY_VOID(
      check_setting("learning_rate", x.learning_rate, x.learning_rate >= 0, "0 or more"));
  if (x.adaptive()) {
    PENSTOCK_TRY_VOID(
        check_setting("beta1", x.beta1, x.beta1 >= 0 && x.beta1 < 1, "from 0 to below 1"));
    PENSTOCK_TRY_VOID(
        check_setting("beta2", x.beta2, x.beta2 >= 0 && x.beta2 < 1, "from 0 to below 1"));
    PENSTOCK_TRY_VOID(check_setting("epsilon", x.epsilon, x.epsilon > 0, "above 0"));
  } else {
    PENSTOCK_TRY_VOID(check_setting("momentum", x.momentum, x.momentum >= 0 && x.momentum < 1,
                                    "from 0 to below 1"));
  }
  PENSTOCK_TRY_VOID(
      check_setting("weight_decay", x.weight_decay, x.weight_decay >= 0, "0 or more"));
  PENSTOCK_TRY_VOID(check_setting("clip", x.clip, x.clip >= 0, "above 0; 0 limits nothing"));
  return check_schedule(x.schedule);
}

}  // namespace penstock
