#pragma once

// A schedule on the command line: its name, its shape, and how long its operations take.

#include <optional>
#include <string>
#include <string_view>

#include "cli/flags.h"
#include "core/order.h"
#include "core/result.h"
#include "planner/schedules/schedule.h"

namespace penstock::cli {

struct ScheduleShape {
  const Schedule* schedule = nullptr;
  Shape shape;
};

// The flags --stages, --microbatches, --chunks and --slices: the same as the keys of those names.
struct ShapeFlags {
  std::int32_t stages = 0, microbatches = 0, chunks = 0, slices = 0;  // 0: not given

  void declare(Flags& flags);
  // Whether the command line gives the flag; any of them.
  bool typed(std::string_view key) const;
  bool typed() const;

  const Flags* declared = nullptr;  // where they are, once they are
};

// Whether the name before the colon is a schedule's.
bool is_schedule(std::string_view text);

// "1f1b:stages=64,microbatches=1024": the shape's keys (stages and microbatches required; chunks,
// slices), and the schedule's own; each key of the shape there or as a flag. Usage errors for
// everything that is wrong with the words, and for what is typed in both ways: over a default the words win.
Result<ScheduleShape> parse_schedule_input(const std::string& text, const ShapeFlags& flags = {});

// The flags --forward, --backward-input, --backward-weight and --transfer. All four in one kind of
// number: with a unit, or bare, which counts in a unit of the user's own (kept as if it were a
// second, so that fractions are exact to 1e-9).
class TimeFlags {
 public:
  void declare(Flags& flags);

  // Whether the command line gives any of them.
  bool typed() const;
  bool transfer_given() const { return transfer_.has_value(); }
  // Whether results are in units of the user's own. Without a flag they are: forward, input and
  // weight gradient take 1.
  bool bare() const { return !with_unit_; }

  // Refuses times whose sum over the order does not fit, and a mixture of bare numbers and units.
  Result<OrderCosts> costs(const Order& order,
                           std::optional<Nanoseconds> transfer = std::nullopt) const;

 private:
  Setter keep(std::optional<Nanoseconds>& target);

  std::optional<Nanoseconds> forward_, backward_input_, backward_weight_, transfer_;
  const Flags* declared_ = nullptr;
  bool with_unit_ = false;
  std::string_view bare_flag_, unit_flag_;  // the first of each kind
};

}  // namespace penstock::cli
