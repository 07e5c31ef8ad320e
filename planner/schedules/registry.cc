#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "planner/schedules/built_in.h"

namespace penstock {
namespace {

constexpr std::int64_t kMostStages = 65535;                              // OrderOp::stage
constexpr std::int64_t kMostMicrobatches = (std::int64_t{1} << 30) - 1;  // OrderOp::microbatch
constexpr std::int64_t kMostSlices = 256;                                // OrderOp::slice
constexpr double kMostOperations = 1 << 24;  // 128 MiB of an Order, some 4 GiB of a program

const auto& table() {
  static const auto rows = std::to_array<Schedule>({gpipe(), one_f_one_b()});
  return rows;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_called(const Schedule& schedule, std::string_view name) {
  return schedule.name == name || std::find(schedule.aliases.begin(), schedule.aliases.end(),
                                            name) != schedule.aliases.end();
}

std::string hint(std::string_view word, const std::vector<std::string_view>& candidates,
                 const std::vector<std::string_view>& listed) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? fmt::format("known: {}", fmt::join(listed, ", "))
                      : fmt::format("did you mean '{}'?", near);
}

}  // namespace

std::span<const Schedule> schedules() {
  return table();
}

Result<ChosenSchedule> find_schedule(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name = lower_case(text.substr(0, colon));
  ChosenSchedule chosen;
  std::vector<std::string_view> names, with_aliases;
  for (const Schedule& schedule : schedules()) {
    if (is_called(schedule, name)) chosen.schedule = &schedule;
    names.push_back(schedule.name);
    with_aliases.push_back(schedule.name);
    with_aliases.insert(with_aliases.end(), schedule.aliases.begin(), schedule.aliases.end());
  }
  if (chosen.schedule == nullptr)
    return fail(ErrorCode::Usage, fmt::format("no schedule is called '{}'", text.substr(0, colon)),
                hint(name, with_aliases, names));
  if (colon == std::string_view::npos) return chosen;

  std::vector<std::string_view> known;
  for (const ScheduleParameter& parameter : chosen.schedule->parameters)
    known.push_back(parameter.name);
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const std::size_t equals = item.find('=');
    const std::string key(item.substr(0, equals));
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size())
      return fail(ErrorCode::Usage, fmt::format("'{}' in '{}' is not key=value", item, text));
    if (known.empty())
      return fail(ErrorCode::Usage, fmt::format("schedule {} has no parameters, '{}' is given",
                                                chosen.schedule->name, key));
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(ErrorCode::Usage,
                  fmt::format("schedule {} has no parameter '{}'", chosen.schedule->name, key),
                  hint(key, known, known));
    if (!chosen.parameters.emplace(key, item.substr(equals + 1)).second)
      return fail(ErrorCode::Usage,
                  fmt::format("parameter '{}' is given twice in '{}'", key, text));
    if (item.size() == rest.size()) return chosen;
    rest.remove_prefix(item.size() + 1);
  }
}

Result<Order> emit(const Schedule& schedule, const Shape& shape) {
  const auto refuse = [&](std::string why) {
    return fail(ErrorCode::Infeasible, std::move(why),
                fmt::format("{} admits: {}", schedule.name, schedule.admits));
  };
  for (const auto& [count, most, what] : {std::tuple<std::int64_t, std::int64_t, std::string_view>{
                                              shape.stages, kMostStages, "stages"},
                                          {shape.microbatches, kMostMicrobatches, "microbatches"},
                                          {shape.chunks, kMostStages, "chunks"},
                                          {shape.slices, kMostSlices, "slices"}}) {
    if (count < 1 || count > most)
      return refuse(fmt::format("{} {}: the number must lie in 1 to {}", count, what, most));
  }
  for (const auto& [key, value] : shape.parameters) {
    const bool known =
        std::any_of(schedule.parameters.begin(), schedule.parameters.end(),
                    [&](const ScheduleParameter& parameter) { return parameter.name == key; });
    if (!known) return refuse(fmt::format("schedule {} has no parameter '{}'", schedule.name, key));
  }
  if (std::string why = schedule.refuses(shape); !why.empty()) return refuse(std::move(why));
  const double operations = 2.0 * shape.stages * shape.microbatches * shape.chunks * shape.slices;
  if (operations > kMostOperations)
    return refuse(fmt::format("{} stages × {} microbatches are {:.3g} operations, more than the "
                              "{:.0f} that fit in memory (4 GiB of instructions)",
                              shape.stages, shape.microbatches, operations, kMostOperations));
  return schedule.emit(shape);
}

std::string refuses_chunks_and_slices(std::string_view name, const Shape& shape) {
  if (shape.chunks != 1)
    return fmt::format("{} has one stage a rank: chunks must be 1, not {}", name, shape.chunks);
  if (shape.slices != 1)
    return fmt::format("{} runs whole microbatches: slices must be 1, not {}", name, shape.slices);
  return {};
}

}  // namespace penstock
