#include "planner/copy_lists.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/replicas.h"
#include "planner/schedules/schedule.h"

namespace penstock {
namespace {

std::int32_t taking_turns(const PlanStage& stage) {
  return stage.split == Split::RoundRobin ? stage.replicas : 1;
}

std::vector<OrderOp> turns_of(const Plan& plan, std::size_t s, std::int32_t copy,
                              bool forwards_first) {
  const PlanStage& stage = plan.stages[s];
  const std::int32_t turns = taking_turns(stage);
  std::int64_t workers = 0;
  for (std::size_t later = s; later < plan.stages.size(); ++later)
    workers += taking_turns(plan.stages[later]);
  std::vector<std::uint32_t> mine;
  for (std::int64_t m = stage.split == Split::RoundRobin ? copy : 0; m < plan.microbatches;
       m += turns)
    mine.push_back(static_cast<std::uint32_t>(m) & 0x3fffffffu);
  const std::size_t first =
      forwards_first ? mine.size()
                     : std::min(mine.size(), static_cast<std::size_t>((workers + turns - 1) / turns));

  std::vector<OrderOp> ops;
  ops.reserve(2 * mine.size());
  const auto add = [&](Op op, std::uint32_t microbatch) {
    OrderOp& next = ops.emplace_back();
    next.op = op;
    next.stage = static_cast<std::uint16_t>(s);
    next.microbatch = microbatch & 0x3fffffffu;
  };
  for (std::size_t k = 0; k < first; ++k) add(Op::F, mine[k]);
  for (std::size_t k = 0; k < mine.size(); ++k) {
    add(Op::BF, mine[k]);
    if (first + k < mine.size()) add(Op::F, mine[first + k]);
  }
  return ops;
}

}  // namespace

Result<std::vector<CopyList>> copy_lists(const Plan& plan) {
  PENSTOCK_TRY(const ChosenSchedule chosen, find_schedule(plan.schedule.name));
  const std::string_view name = chosen.schedule->name;
  const bool turns = std::any_of(plan.stages.begin(), plan.stages.end(),
                                 [](const PlanStage& stage) { return taking_turns(stage) > 1; });
  if (turns && name != "1f1b" && name != "gpipe")
    return fail(ErrorCode::Infeasible,
                fmt::format("{} is not defined for replicas that take turns at microbatches", name),
                "1f1b or gpipe, or the split batch");
  Shape shape;
  shape.stages = static_cast<std::int32_t>(plan.stages.size());
  shape.microbatches =
      static_cast<std::int32_t>(std::min<std::int64_t>(plan.microbatches, INT32_MAX));
  shape.parameters = plan.schedule.parameters;
  PENSTOCK_TRY(const Order order, emit(*chosen.schedule, shape));

  std::vector<CopyList> lists(plan.devices.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (std::int32_t copy = 0; copy < plan.stages[s].replicas; ++copy) {
      const RankId rank = plan.stages[s].devices[static_cast<std::size_t>(copy)];
      const StageId stage(static_cast<std::int64_t>(s));
      const std::span<const OrderOp> ops = order.of(order.rank(stage));
      lists[rank.index()] = {stage, copy,
                             turns ? turns_of(plan, s, copy, name == "gpipe")
                                   : std::vector<OrderOp>(ops.begin(), ops.end())};
    }
  }
  return lists;
}

}  // namespace penstock
