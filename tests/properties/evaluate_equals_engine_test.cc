// The search's evaluator and the event engine are written apart from each other; for any order they
// give the same times.

#include <gtest/gtest.h>

#include <map>

#include "core/program_check.h"
#include "planner/lower.h"
#include "planner/schedules/schedule.h"
#include "sim/engine.h"
#include "sim/evaluate.h"
#include "tests/properties/random_orders.h"

namespace penstock {
namespace {

// Of the engine's timeline: when each compute operation ends, by its key without the step.
std::map<InstructionKey, Nanoseconds> ends_of(const Timeline& timeline) {
  std::map<InstructionKey, Nanoseconds> ends;
  for (const Span& span : timeline.spans) {
    InstructionKey key = span.key;
    if (is_compute(key.op) || key.op == Op::Step) ends[key] = span.end;
  }
  return ends;
}

void expect_equal(const Order& order, const OrderCosts& costs, const std::string& what) {
  const Program program = lower(order, costs, Bytes(100));
  // An edge of a program does not say which copy of its stages it joins, so rule R3 proves one
  // direction only.
  const bool has_one_direction = order.rank_of.size() == static_cast<std::size_t>(order.stages);
  for (const Violation& violation : has_one_direction ? check(program) : std::vector<Violation>())
    FAIL() << what << " " << violation.rule << ": " << violation.message;
  EXPECT_TRUE(check(order).empty()) << what;
  Evaluator evaluator;
  evaluator.record = true;
  for (const Discipline discipline : {Discipline::Eager, Discipline::Rendezvous}) {
    const auto evaluation = evaluator.evaluate(order, costs, discipline);
    ASSERT_TRUE(evaluation.has_value()) << what << ": " << evaluation.error().text();
    EngineOptions options;
    options.discipline = discipline;
    const auto simulated = simulate(program, options);
    ASSERT_TRUE(simulated.has_value()) << what << ": " << simulated.error().text();
    const std::map<InstructionKey, Nanoseconds> ends = ends_of(simulated->timeline);
    for (std::size_t i = 0; i < order.ops.size(); ++i) {
      const OrderOp& op = order.ops[i];
      InstructionKey key;
      key.op = op.op;
      key.slice = op.slice;
      key.direction = op.direction;
      key.stage = op.stage;
      key.microbatch = op.op == Op::Step ? -1 : static_cast<std::int32_t>(op.microbatch);
      ASSERT_TRUE(ends.contains(key)) << what << " " << text(op);
      ASSERT_EQ(ends.at(key).value, evaluator.ends[i].value)
          << what << " " << (discipline == Discipline::Eager ? "eager " : "rendezvous ")
          << text(op);
    }
    EXPECT_EQ(iteration_time(simulated->timeline), (*evaluation)->makespan) << what;
  }
}

TEST(EvaluateEqualsEngine, OnRandomStageGraphsOrdersAndCosts) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    test::Draws draws(seed);
    const Order order = test::random_order(draws);
    const OrderCosts costs = test::random_order_costs(draws, order, draws.chance(0.5) ? 5 : 100000);
    expect_equal(order, costs, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(EvaluateEqualsEngine, OnEveryScheduleWithRandomCosts) {
  for (const Schedule& schedule : schedules()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      test::Draws draws(combine(seed, 99));
      Shape shape;
      shape.stages = static_cast<std::int32_t>(draws.between(1, 8));
      shape.microbatches = static_cast<std::int32_t>(draws.between(1, 12));
      const Order order = with_steps(*emit(schedule, shape));
      const OrderCosts costs = test::random_order_costs(draws, order, 1000);
      expect_equal(order, costs, std::string(schedule.name) + " seed " + std::to_string(seed));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace penstock
