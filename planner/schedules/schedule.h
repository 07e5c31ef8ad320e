#pragma once

// A schedule: a name, the shapes it admits, and the Order it emits. One file a schedule, one row in
// registry.cc.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/order.h"
#include "core/result.h"

namespace penstock {

struct Shape {
  std::int32_t stages = 1;        // p: ranks
  std::int32_t microbatches = 1;  // m
  std::int32_t chunks = 1;        // v: stages a rank holds of one copy
  std::int32_t slices = 1;        // n: sequence slices a microbatch
  std::map<std::string, std::string> parameters;
};

struct ScheduleParameter {
  std::string_view name;     // "limit"
  std::string_view meaning;  // values, unit and default, in words
};

struct Schedule {
  std::string_view name;  // as the literature names it, snake_case
  std::span<const std::string_view> aliases;
  std::span<const ScheduleParameter> parameters;
  std::string_view about;                // one line
  std::string_view source;               // paper, section
  std::string_view admits;               // which shapes, in words
  std::string (*refuses)(const Shape&);  // "" if the shape is admitted, else why not and which is
  Order (*emit)(const Shape&);           // shape admitted, stages in a chain. O(operations)
};

std::span<const Schedule> schedules();

struct ChosenSchedule {
  const Schedule* schedule = nullptr;
  std::map<std::string, std::string> parameters;
};
// By name or alias, with parameters after a colon: "zb_auto:limit=1.5,seed=3". Usage errors: an
// unknown schedule or parameter (naming the nearest), a parameter twice or without its value.
Result<ChosenSchedule> find_schedule(std::string_view text);

// The order of a shape, or (Infeasible) why the schedule does not admit it. Orders of more than
// 2^28 operations (2 GiB) are refused.
Result<Order> emit(const Schedule& schedule, const Shape& shape);

}  // namespace penstock
