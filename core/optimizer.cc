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

// Updates are computed in f32. Neither infinite there, nor 0 where it is not 0.
bool fits_float(double value) {
  const auto single = static_cast<float>(value);
  return std::isfinite(single) && (value == 0 || std::isnormal(single));
}

// A number of the optimizer, by its key. NaN is in no range.
Result<void> check_setting(std::string_view key, double value, bool in_range,
                           std::string_view range) {
  if (in_range && fits_float(value)) return {};
  std::string words(key);
  std::replace(words.begin(), words.end(), '_', ' ');
  return invalid(fmt::format("/optimizer/{}", key), fmt::format("the {} is {}", words, value),
                 in_range ? "a number that f32 can hold: at most 3.4e38, and not below 1.2e-38 unless 0"
                          : std::string(range));
}

// A factor below 1 that is still below 1 in f32.
bool is_share(double x) {
  return x >= 0 && static_cast<float>(x) < 1;
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
        check_setting("beta1", x.beta1, is_share(x.beta1), "from 0 to below 1, also in f32"));
    PENSTOCK_TRY_VOID(
        check_setting("beta2", x.beta2, is_share(x.beta2), "from 0 to below 1, also in f32"));
    PENSTOCK_TRY_VOID(check_setting("epsilon", x.epsilon, x.epsilon > 0, "above 0"));
  } else {
    PENSTOCK_TRY_VOID(check_setting("momentum", x.momentum, is_share(x.momentum),
                                    "from 0 to below 1, also in f32"));
  }
  PENSTOCK_TRY_VOID(
      check_setting("weight_decay", x.weight_decay, x.weight_decay >= 0, "0 or more"));
  // What an update multiplies with: Adam's first step is the one with the smallest correction.
  const double rate = x.adaptive() ? x.learning_rate / (1 - x.beta1) : x.learning_rate;
  if (!std::isfinite(static_cast<float>(rate)) ||
      !std::isfinite(static_cast<float>(x.learning_rate * x.weight_decay)))
    return invalid("/optimizer/learning_rate",
                   fmt::format("the learning rate is {}", x.learning_rate),
                   "one that f32 can hold when divided by 1 - beta1, or multiplied with the decay");
  PENSTOCK_TRY_VOID(check_setting("clip", x.clip, x.clip >= 0, "above 0; 0 limits nothing"));
  return check_schedule(x.schedule);
}

}  // namespace penstock
