#include "cli/arguments/optimizer_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "models/text_form.h"

namespace penstock::cli {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::string_view kWhere = "--optimizer";

tl::unexpected<Error> refuse(const std::string& what, std::string hint) {
  return fail(ErrorCode::Usage, fmt::format("{}: {}", kWhere, what), std::move(hint));
}

// Numbers by their key. `least` is in the range, `below` is not.
struct Number {
  std::string_view key;
  double Optimizer::*field;
  double least, below;
};
// The smallest number above 1: the range ends with 1 itself.
const double kAboveOne = std::nextafter(1.0, 2.0);
constexpr double kSmallest = 1e-30;

Result<double> parse_number(std::string_view key, std::string_view text, double least,
                            double below) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value < below)
    return value + 0.0;  // "-0" is 0
  return refuse(fmt::format("{} cannot be \"{}\"", key, text),
                below == kAboveOne ? fmt::format("a number from {} to 1", least)
                                   : fmt::format("a number from {} to below {}", least, below));
}

std::vector<std::string_view> numbers_of(OptimizerKind kind) {
  if (kind == OptimizerKind::Sgd) return {"learning-rate", "momentum", "weight-decay", "clip"};
  return {"learning-rate", "beta1", "beta2", "epsilon", "weight-decay", "clip"};
}

std::vector<std::string_view> settings_of(DecayKind kind) {
  switch (kind) {
    case DecayKind::Constant:
      return {};
    case DecayKind::Linear:
    case DecayKind::Cosine:
      return {"steps", "final"};
    case DecayKind::Step:
      return {"every", "factor"};
  }
  return {};
}

// A key of another kind is no slip of the pen: it says what it would belong to.
Result<void> expect_settings(const TextForm& form, OptimizerKind kind, DecayKind decay) {
  std::vector<std::string_view> known = numbers_of(kind);
  for (const std::string_view key : {"schedule", "warmup"}) known.push_back(key);
  for (const std::string_view key : settings_of(decay)) known.push_back(key);
  const auto reads = [](const auto& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const Setting& setting : form.settings) {
    if (reads(known, setting.key)) continue;
    for (const auto& [other, name] : enum_names(OptimizerKind{}))
      if (reads(numbers_of(other), setting.key))
        return refuse(fmt::format("{} means nothing to {}", setting.key, form.name),
                      fmt::format("{} takes {}", form.name, fmt::join(known, ", ")));
    for (const auto& [other, name] : enum_names(DecayKind{}))
      if (reads(settings_of(other), setting.key))
        return refuse(fmt::format("{} means nothing to the schedule {}", setting.key,
                                  enum_text(decay)),
                      fmt::format("schedule={} takes it", name));
  }
  // As wide as can be for what comes next: the nearest of all keys.
  for (const DecayKind other : {DecayKind::Linear, DecayKind::Step})
    for (const std::string_view key : settings_of(other))
      if (!reads(known, std::string(key))) known.push_back(key);
  return expect_keys(form, known);
}

Result<void> parse_schedule(const TextForm& form, LearningRateSchedule& schedule) {
  if (const std::string* text = form.find("warmup")) {
    PENSTOCK_TRY(schedule.warmup, parse_count(*text, "--optimizer: warmup", 0, kMostSteps));
  }
  if (const std::string* text = form.find("steps")) {
    PENSTOCK_TRY(schedule.steps, parse_count(*text, "--optimizer: steps", 1, kMostSteps));
  }
  if (const std::string* text = form.find("every")) {
    PENSTOCK_TRY(schedule.every, parse_count(*text, "--optimizer: every", 1, kMostSteps));
  }
  if (const std::string* text = form.find("final")) {
    PENSTOCK_TRY(schedule.final, parse_number("final", *text, 0, kAboveOne));
  }
  if (const std::string* text = form.find("factor")) {
    PENSTOCK_TRY(schedule.factor, parse_number("factor", *text, kSmallest, kAboveOne));
  }
  return {};
}

}  // namespace

Result<void> parse_optimizer(const std::string& text, Optimizer& optimizer) {
  PENSTOCK_TRY(const TextForm form, parse_text_form(text));
  const auto kind = parse_enum<OptimizerKind>(form.name, "optimizer");
  if (!kind)
    return refuse(fmt::format("there is no optimizer \"{}\"", form.name),
                  "there are sgd, adam and adamw");
  if (!form.argument.empty())
    return refuse(fmt::format("\"{}\" has no value", form.argument), "write key=value");
  Optimizer out = *kind == optimizer.kind ? optimizer : default_optimizer(*kind);
  if (const std::string* name = form.find("schedule")) {
    const auto decay = parse_enum<DecayKind>(*name, "schedule of a learning rate");
    if (!decay)
      return refuse(decay.error().message, decay.error().hint);
    if (*decay != out.schedule.kind) {
      out.schedule = {.kind = *decay, .warmup = out.schedule.warmup};
    }
  }
  PENSTOCK_TRY_VOID(expect_settings(form, *kind, out.schedule.kind));
  const Number numbers[] = {{"learning-rate", &Optimizer::learning_rate, 0, 1e6},
                            {"momentum", &Optimizer::momentum, 0, 1},
                            {"beta1", &Optimizer::beta1, 0, 1},
                            {"beta2", &Optimizer::beta2, 0, 1},
                            {"epsilon", &Optimizer::epsilon, kSmallest, 1},
                            {"weight-decay", &Optimizer::weight_decay, 0, 1e6},
                            {"clip", &Optimizer::clip, 0, 1e30}};
  for (const Number& number : numbers) {
    if (const std::string* value = form.find(number.key)) {
      PENSTOCK_TRY(out.*number.field,
                   parse_number(number.key, *value, number.least, number.below));
    }
  }
  PENSTOCK_TRY_VOID(parse_schedule(form, out.schedule));
  if (auto valid = validate(out); !valid)
    return refuse(valid.error().message, valid.error().hint);
  optimizer = out;
  return {};
}

}  // namespace penstock::cli
