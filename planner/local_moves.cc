#include "planner/local_moves.h"

namespace penstock {
namespace {

bool fits(const Setting& setting, StageGrower& range, std::int32_t stage, std::int32_t first,
          std::int32_t end) {
  const Bytes limit = setting.problem.limits[static_cast<std::size_t>(stage)];
  for (const RefusedStage& refused : setting.problem.refused)
    if (refused.stage == stage && refused.first == first && refused.end == end) return false;
  if (limit.value == 0) return true;
  range.start(first);
  while (range.end() < end) range.extend();
  const Bytes reserved = setting.problem.reserved.empty()
                             ? Bytes(0)
                             : setting.problem.reserved[static_cast<std::size_t>(stage)];
  return least_memory(range.figures(), setting.problem, stage) + reserved <= limit;
}

}  // namespace

Result<Nanoseconds> evaluate_division(const Setting& setting, const std::vector<std::int32_t>& ends,
                                      Evaluator& evaluator) {
  PENSTOCK_TRY(DividedCosts divided, divided_costs(setting, ends));
  if (divided.stage_edges == setting.order.edges) {
    PENSTOCK_TRY(const Evaluation* evaluation,
                 evaluator.evaluate(setting.order, divided.costs, Discipline::Rendezvous));
    return evaluation->makespan;
  }
  Order order = setting.order;
  order.edges = std::move(divided.stage_edges);
  PENSTOCK_TRY(const Evaluation* evaluation,
               evaluator.evaluate(order, divided.costs, Discipline::Rendezvous));
  return evaluation->makespan;
}

Result<EvaluatedDivision> improve(const Setting& setting, EvaluatedDivision start,
                                  StageGrower& range, Evaluator& evaluator,
                                  std::int64_t most_operations, const std::stop_token& stop) {
  EvaluatedDivision best = std::move(start);
  const auto operations = static_cast<std::int64_t>(setting.order.ops.size());
  std::int64_t evaluated = 0;
  while (true) {
    EvaluatedDivision next = best;
    for (std::size_t cut = 0; cut + 1 < best.ends.size(); ++cut) {
      for (const std::int32_t shift : {-8, -4, -2, -1, 1, 2, 4, 8}) {
        std::vector<std::int32_t> ends = best.ends;
        ends[cut] += shift;
        const std::int32_t before = cut == 0 ? 0 : ends[cut - 1];
        if (ends[cut] <= before || ends[cut] >= ends[cut + 1]) continue;
        const auto stage = static_cast<std::int32_t>(cut);
        if (!fits(setting, range, stage, before, ends[cut]) ||
            !fits(setting, range, stage + 1, ends[cut], ends[cut + 1]))
          continue;
        if (evaluated + operations > most_operations || stop.stop_requested()) return next;
        evaluated += operations;
        PENSTOCK_TRY(const Nanoseconds makespan, evaluate_division(setting, ends, evaluator));
        if (makespan < next.makespan) next = {std::move(ends), makespan};
      }
    }
    if (next.makespan >= best.makespan) return best;
    best = std::move(next);
  }
}

}  // namespace penstock
