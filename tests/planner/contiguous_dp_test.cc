#include "planner/partition/contiguous_dp.h"

#include <gtest/gtest.h>

#include <functional>

#include "planner/schedules/built_in.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

DivisionProblem random_problem(test::Draws& draws, std::int32_t stages,
                               std::int64_t optimizer_states) {
  Shape shape;
  shape.stages = stages;
  shape.microbatches = static_cast<std::int32_t>(draws.between(1, 6));
  DivisionProblem problem;
  problem.demands = rank_demands(*emit(draws.chance(0.5) ? gpipe() : one_f_one_b(), shape));
  problem.optimizer_states = optimizer_states;
  problem.microbatches = shape.microbatches;
  const bool uneven = draws.chance(0.5);
  const auto hop = [&] {
    return Hop{Nanoseconds(draws.between(0, 50)),
               BytesPerSecond(static_cast<double>(draws.between(1, 20)) * 1e9)};
  };
  const Hop same = hop();
  for (std::int32_t s = 0; s < stages; ++s) {
    problem.limits.push_back(Bytes(0));
    problem.from_previous.push_back(uneven ? hop() : same);
    problem.from_next.push_back(uneven ? hop() : same);
  }
  return problem;
}

// All ways to end p non-empty stages on n layers, in lexicographic order.
void for_each_division(std::int32_t n, std::int32_t p,
                       const std::function<void(const std::vector<std::int32_t>&)>& visit) {
  std::vector<std::int32_t> ends;
  const std::function<void(std::int32_t)> extend = [&](std::int32_t first) {
    if (static_cast<std::int32_t>(ends.size()) == p - 1) {
      ends.push_back(n);
      visit(ends);
      ends.pop_back();
      return;
    }
    for (std::int32_t end = first + 1; end < n; ++end) {
      ends.push_back(end);
      extend(end);
      ends.pop_back();
    }
  };
  if (p <= n) extend(0);
}

struct Judged {
  std::int64_t bottleneck = 0, memory = 0, excess = 0;
};

Judged judge(StageGrower& range, const DivisionProblem& problem,
             const std::vector<std::int32_t>& ends) {
  Judged judged;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    const auto stage = static_cast<std::int32_t>(s);
    range.start(s == 0 ? 0 : ends[s - 1]);
    while (range.end() < ends[s]) range.extend();
    const Bytes memory = least_memory(range.figures(), problem, stage);
    judged.bottleneck =
        std::max(judged.bottleneck, stage_time(range.figures(), problem, stage).value);
    judged.memory = std::max(judged.memory, memory.value);
    if (problem.limits[s].value > 0)
      judged.excess = std::max(judged.excess, (memory - problem.limits[s]).value);
    for (const RefusedStage& refused : problem.refused)
      if (refused.stage == stage && refused.first == range.first() && refused.end == range.end())
        judged.excess = std::max(judged.excess, refused.excess.value);
  }
  return judged;
}

// Thousands of instances against all divisions: bottleneck, then memory, then ends; or how much is
// lacking.
TEST(ContiguousDp, FindsWhatTryingEverythingFinds) {
  int feasible = 0, infeasible = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    test::Draws draws(seed);
    const Workload workload = test::random_workload(draws, draws.between(0, 6), 6);
    const CostTable costs =
        test::random_costs(draws, workload, draws.between(1, 2), draws.chance(0.5) ? 6 : 300);
    StageGrower range(workload, costs);
    const std::int32_t n = range.layers();
    const auto p = static_cast<std::int32_t>(draws.between(1, std::min(n, 5)));
    DivisionProblem problem = random_problem(draws, p, workload.optimizer.states());
    if (draws.chance(0.7)) {
      std::int64_t least = INT64_MAX, most = 0;
      for_each_division(n, p, [&](const auto& ends) {
        const std::int64_t memory = judge(range, problem, ends).memory;
        least = std::min(least, memory), most = std::max(most, memory);
      });
      const std::int64_t limit = draws.between(least - least / 20, most);
      for (Bytes& bytes : problem.limits) bytes = Bytes(limit + draws.between(0, least / 20));
    }
    if (draws.chance(0.3)) {
      const auto first = static_cast<std::int32_t>(draws.between(0, n - 1));
      problem.refused.push_back({static_cast<std::int32_t>(draws.between(0, p - 1)), first,
                                 static_cast<std::int32_t>(draws.between(first + 1, n)),
                                 Bytes(draws.between(1, 100))});
    }

    std::vector<std::int32_t> best;
    Judged best_judged;
    std::int64_t least_excess = INT64_MAX;
    for_each_division(n, p, [&](const std::vector<std::int32_t>& ends) {
      const Judged judged = judge(range, problem, ends);
      least_excess = std::min(least_excess, judged.excess);
      if (judged.excess > 0) return;
      if (best.empty() || std::pair(judged.bottleneck, judged.memory) <
                              std::pair(best_judged.bottleneck, best_judged.memory))
        best = ends, best_judged = judged;
    });
    const std::optional<Division> division = divide(range, problem);
    ASSERT_EQ(division.has_value(), !best.empty()) << "seed " << seed;
    if (division) {
      ++feasible;
      ASSERT_EQ(division->bottleneck.value, best_judged.bottleneck) << "seed " << seed;
      ASSERT_EQ(division->memory.value, best_judged.memory) << "seed " << seed;
      ASSERT_EQ(division->ends, best) << "seed " << seed;
    } else {
      ++infeasible;
      const Shortage lack = shortage(range, problem);
      ASSERT_EQ(lack.excess.value, least_excess) << "seed " << seed;
      range.start(lack.first);
      while (range.end() < lack.end) range.extend();
      const bool is_refused = std::any_of(
          problem.refused.begin(), problem.refused.end(), [&](const RefusedStage& refused) {
            return refused.stage == lack.stage && refused.first == lack.first &&
                   refused.end == lack.end && refused.excess == lack.excess;
          });
      const Bytes limit = problem.limits[static_cast<std::size_t>(lack.stage)];
      EXPECT_TRUE(is_refused ||
                  least_memory(range.figures(), problem, lack.stage) - limit == lack.excess)
          << "seed " << seed;
    }
  }
  EXPECT_GT(feasible, 3000);
  EXPECT_GT(infeasible, 50);
}

TEST(ContiguousDp, WhatIsReservedCountsAgainstTheLimit) {
  test::Draws draws(3);
  const Workload workload = test::random_workload(draws, 4, 4);
  const CostTable costs = test::random_costs(draws, workload, 1, 50);
  StageGrower range(workload, costs);
  DivisionProblem problem = random_problem(draws, 1, 1);
  range.start(0);
  while (range.end() < range.layers()) range.extend();
  problem.limits[0] = least_memory(range.figures(), problem, 0);
  EXPECT_TRUE(divide(range, problem).has_value());
  problem.reserved = {Bytes(64)};
  ASSERT_FALSE(divide(range, problem).has_value());
  EXPECT_EQ(shortage(range, problem).excess, Bytes(64));
}

// Asked in the middle of a pass, as by a user, whatever the pass has so far is no division.
TEST(ContiguousDp, AStopEndsTheSearchForADivision) {
  test::Draws draws(5);
  const Workload workload = test::random_workload(draws, 8, 8);
  const CostTable costs = test::random_costs(draws, workload, 1, 50);
  StageGrower range(workload, costs);
  DivisionProblem problem = random_problem(draws, 3, 1);
  std::stop_source source;
  problem.stop = source.get_token();
  EXPECT_TRUE(divide(range, problem).has_value());
  source.request_stop();
  EXPECT_FALSE(divide(range, problem).has_value());
}

TEST(ContiguousDp, DemandsAreThoseOfTheOrder) {
  Shape shape;
  shape.stages = 3;
  shape.microbatches = 5;
  EXPECT_EQ(rank_demands(*emit(gpipe(), shape)), (std::vector<RankDemand>{{5, 5}, {5, 5}, {5, 5}}));
  EXPECT_EQ(rank_demands(*emit(one_f_one_b(), shape)),
            (std::vector<RankDemand>{{3, 3}, {2, 2}, {1, 1}}));
}

}  // namespace
}  // namespace penstock
