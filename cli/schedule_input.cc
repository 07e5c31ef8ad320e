#include "cli/schedule_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/text_form.h"

namespace penstock::cli {
namespace {

constexpr std::int32_t kMostCount = std::int32_t{1} << 30;
constexpr Nanoseconds kOne{1'000'000'000};  // a bare 1

struct ShapeKey {
  std::string_view name;
  std::int32_t Shape::*member;
  std::int32_t ShapeFlags::*flag;
  bool required;
};
constexpr std::array<ShapeKey, 4> kShapeKeys = {{{"stages", &Shape::stages, &ShapeFlags::stages, true},
                                                 {"microbatches", &Shape::microbatches, &ShapeFlags::microbatches, true},
                                                 {"chunks", &Shape::chunks, &ShapeFlags::chunks, false},
                                                 {"slices", &Shape::slices, &ShapeFlags::slices, false}}};

const ShapeKey* find_key(std::string_view name) {
  for (const ShapeKey& key : kShapeKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

// "8" and "1e3" are bare, "8ms" is not: every unit of time has an s.
bool has_unit(std::string_view text) {
  return text.find('s') != std::string_view::npos;
}

}  // namespace

bool is_schedule(std::string_view text) {
  return find_schedule(text.substr(0, text.find(':'))).has_value();
}

void ShapeFlags::declare(Flags& flags) {
  flags.add("--stages", "P", "of a schedule: ranks", count_into(stages, 1, kMostCount));
  flags.add("--microbatches", "M", "of a schedule: a step", count_into(microbatches, 1, kMostCount));
  flags.add("--chunks", "V", "of a schedule: stages that a rank holds of one copy (default 1)",
            count_into(chunks, 1, kMostCount));
  flags.add("--slices", "N", "of a schedule: parts of a microbatch along the sequence (default 1)",
            count_into(slices, 1, kMostCount));
  declared = &flags;
}

bool ShapeFlags::typed(std::string_view key) const {
  return declared != nullptr && declared->typed(fmt::format("--{}", key));
}

bool ShapeFlags::typed() const {
  return std::any_of(kShapeKeys.begin(), kShapeKeys.end(), [&](const ShapeKey& key) { return typed(key.name); });
}

Result<ScheduleShape> parse_schedule_input(const std::string& text, const ShapeFlags& flags) {
  PENSTOCK_TRY(const ChosenSchedule named, find_schedule(text.substr(0, text.find(':'))));
  PENSTOCK_TRY(const TextForm form, parse_text_form(text));
  ScheduleShape out{.schedule = named.schedule, .shape = {}};
  std::string own;  // settings of the schedule itself
  for (const Setting& setting : form.settings) {
    if (const ShapeKey* key = find_key(setting.key)) {
      PENSTOCK_TRY(const std::int64_t count,
                   parse_count(setting.value, setting.key, 1, kMostCount));
      out.shape.*(key->member) = static_cast<std::int32_t>(count);
    } else {
      own += fmt::format("{}{}={}", own.empty() ? ":" : ",", setting.key, setting.value);
    }
  }
  if (!form.argument.empty())
    return fail(ErrorCode::Usage, fmt::format("\"{}\" has no value", form.argument),
                "write key=value");
  auto chosen = find_schedule(form.name + own);
  if (!chosen) {
    // The schedule knows only its own parameters; a slip may have been meant for one of the shape.
    std::vector<std::string_view> keys;
    for (const ShapeKey& key : kShapeKeys) keys.push_back(key.name);
    for (const Setting& setting : form.settings) {
      const std::string_view meant =
          find_key(setting.key) == nullptr ? nearest(setting.key, keys) : "";
      if (!meant.empty()) chosen.error().hint = fmt::format("did you mean {}?", meant);
    }
    return fail(std::move(chosen.error()));
  }
  out.shape.parameters = chosen->parameters;
  for (const ShapeKey& key : kShapeKeys) {
    const bool in_words = form.find(key.name) != nullptr;
    const bool typed = flags.typed(key.name);
    if (const std::int32_t count = flags.*(key.flag); count > 0 && (typed || !in_words)) {
      if (in_words)
        return fail(ErrorCode::Usage,
                    fmt::format("{} is given twice: in \"{}\" and as --{}", key.name, text, key.name),
                    "drop one of them");
      out.shape.*(key.member) = count;
      continue;
    }
    if (!key.required || in_words) continue;
    return fail(ErrorCode::Usage, fmt::format("\"{}\" does not say how many {}", text, key.name),
                fmt::format("write {0}:stages=4,microbatches=8, or {0} --stages 4 --microbatches 8",
                            form.name));
  }
  return out;
}

Setter TimeFlags::keep(std::optional<Nanoseconds>& target) {
  return [this, &target](std::string_view flag, const std::string& text) -> Result<void> {
    auto parsed = parse_time(text);
    if (!parsed) {
      return fail(ErrorCode::Usage, fmt::format("{}: {}", flag, parsed.error().message),
                  parsed.error().hint);
    }
    const Nanoseconds time = *parsed;
    target = time;
    if (time.value == 0) return {};  // the same in any unit
    std::string_view& first = has_unit(text) ? unit_flag_ : bare_flag_;
    if (first.empty()) first = flag;
    with_unit_ = !unit_flag_.empty();
    return {};
  };
}

void TimeFlags::declare(Flags& flags) {
  flags.add("--forward", "TIME",
            "of one operation (default 1): bare numbers are in a unit of your own", keep(forward_));
  flags.add("--backward-input", "TIME", "of the input gradient (default 1)", keep(backward_input_));
  flags.add("--backward-weight", "TIME", "of the weight gradient (default 1)",
            keep(backward_weight_));
  flags.add("--transfer", "TIME", "of one message between two ranks (default 0)", keep(transfer_));
  declared_ = &flags;
}

bool TimeFlags::typed() const {
  constexpr std::string_view kTimes[] = {"--forward", "--backward-input", "--backward-weight", "--transfer"};
  return declared_ != nullptr && std::any_of(std::begin(kTimes), std::end(kTimes), [&](std::string_view flag) { return declared_->typed(flag); });
}

Result<OrderCosts> TimeFlags::costs(const Order& order, std::optional<Nanoseconds> transfer) const {
  if (!unit_flag_.empty() && !bare_flag_.empty()) {
    return fail(ErrorCode::Usage,
                fmt::format("{} has a unit and {} has none", unit_flag_, bare_flag_),
                "write all times with units, or none");
  }
  for (const auto& [name, time] : {std::pair("--forward", forward_),
                                   {"--backward-input", backward_input_},
                                   {"--backward-weight", backward_weight_}}) {
    if (!with_unit_ || time) continue;
    return fail(ErrorCode::Usage,
                fmt::format("{} has a unit, and {} is left out", unit_flag_, name),
                "its default is a bare 1: give it a time too");
  }
  const Nanoseconds f = forward_.value_or(kOne), b = backward_input_.value_or(kOne),
                    w = backward_weight_.value_or(kOne);
  const Nanoseconds c = transfer ? *transfer : transfer_.value_or(Nanoseconds(0));
  const double longest = static_cast<double>(order.ops.size()) *
                         (static_cast<double>(f.value) + static_cast<double>(b.value) +
                          static_cast<double>(w.value) + 2 * static_cast<double>(c.value));
  if (longest >= static_cast<double>(kForever.value)) {
    return fail(ErrorCode::Usage, "these times are too long to be added up",
                "count in a larger unit");
  }
  return OrderCosts::uniform(order, f, b, w, c);
}

}  // namespace penstock::cli
