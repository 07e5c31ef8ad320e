// Against an evaluator that is slow and plain, and what follows from the definition.

#include <gtest/gtest.h>

#include <random>

#include "sim/engine.h"
#include "sim/evaluate.h"
#include "tests/sim/random_order.h"
#include "tests/sim/reference_evaluator.h"
#include "tests/sim/timed_program.h"

namespace penstock::test {
namespace {

constexpr Discipline kDisciplines[] = {Discipline::Eager, Discipline::Rendezvous};

TEST(EvaluateReference, AgreesOnRandomOrdersOfEveryShape) {
  std::mt19937_64 random(20240611);
  Evaluator quick, recording;
  recording.record = true;
  int finished = 0, deadlocked = 0;
  for (int n = 0; n < 4000; ++n) {
    const Order order = random_order(random, n % 2 == 0 ? Lists::Sound : Lists::Shuffled);
    const OrderCosts costs = random_costs(random, order);
    for (const Discipline discipline : kDisciplines) {
      const auto expected = reference_times(order, costs, discipline);
      const auto got = quick.evaluate(order, costs, discipline);
      const auto recorded = recording.evaluate(order, costs, discipline);
      ASSERT_EQ(got.has_value(), expected.has_value()) << "order " << n;
      ASSERT_EQ(recorded.has_value(), expected.has_value()) << "order " << n;
      if (!expected) {
        EXPECT_EQ(got.error().code, ErrorCode::Infeasible);
        ++deadlocked;
        continue;
      }
      ++finished;
      ASSERT_EQ(recording.starts, expected->starts) << "order " << n;
      ASSERT_EQ(recording.ends, expected->ends) << "order " << n;
      Nanoseconds makespan, span;
      for (std::size_t r = 0; r + 1 < order.first.size(); ++r) {
        if (order.first[r] == order.first[r + 1]) continue;
        const Nanoseconds start = expected->starts[order.first[r]],
                          end = expected->ends[order.first[r + 1] - 1];
        ASSERT_EQ((*got)->first_start[r], start) << "order " << n << " rank " << r;
        ASSERT_EQ((*got)->last_end[r], end) << "order " << n << " rank " << r;
        ASSERT_EQ((*got)->busy[r], (*recorded)->busy[r]) << "order " << n << " rank " << r;
        makespan = std::max(makespan, end);
        span = std::max(span, end - start);
      }
      ASSERT_EQ((*got)->makespan, makespan) << "order " << n;
      ASSERT_EQ((*got)->span, span) << "order " << n;
    }
  }
  EXPECT_GT(finished, 3000);
  EXPECT_GT(deadlocked, 300);
}

TEST(EvaluateReference, TheEngineTakesTheSameTimeForTheProgramOfAnOrder) {
  std::mt19937_64 random(7);
  Evaluator evaluator;
  evaluator.record = true;
  for (int n = 0; n < 1500; ++n) {
    const Order order = random_order(random, Lists::Sound, false);
    const OrderCosts costs = random_costs(random, order);
    const Program program = timed_program(order, costs);
    for (const Discipline discipline : kDisciplines) {
      const auto evaluation = evaluator.evaluate(order, costs, discipline);
      ASSERT_TRUE(evaluation.has_value()) << evaluation.error().text();
      const auto simulated = simulate(program, {.discipline = discipline});
      ASSERT_TRUE(simulated.has_value()) << "order " << n << ": " << simulated.error().text();
      std::size_t op = 0;
      for (const Span& span : simulated->timeline.spans) {
        if (is_transfer(span.key.op)) continue;
        ASSERT_EQ(span.start, evaluator.starts[op]) << "order " << n << " operation " << op;
        ASSERT_EQ(span.end, evaluator.ends[op]) << "order " << n << " operation " << op;
        ++op;
      }
      ASSERT_EQ(op, order.ops.size());
    }
  }
}

TEST(EvaluateReference, NoDurationMakesItShorterByGrowing) {
  std::mt19937_64 random(11);
  Evaluator evaluator;
  for (int n = 0; n < 300; ++n) {
    const Order order = random_order(random, Lists::Sound, false);
    OrderCosts costs = random_costs(random, order);
    for (const Discipline discipline : kDisciplines) {
      const Nanoseconds before = (*evaluator.evaluate(order, costs, discipline))->makespan;
      for (auto* times : {&costs.forward, &costs.backward_input, &costs.backward_weight,
                          &costs.recompute, &costs.step, &costs.activation, &costs.gradient}) {
        for (Nanoseconds& time : *times) {
          const Nanoseconds kept = time;
          time += Nanoseconds(1 + static_cast<std::int64_t>(random() % 9));
          ASSERT_GE((*evaluator.evaluate(order, costs, discipline))->makespan, before)
              << "order " << n;
          time = kept;
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::test
