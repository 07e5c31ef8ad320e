#include "planner/local_moves.h"

#include <gtest/gtest.h>

#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

struct Fixture {
  explicit Fixture(std::uint64_t seed) : draws(seed) {
    workload = test::random_workload(draws, draws.between(6, 16), 6);
    costs = test::random_costs(draws, workload, 1, 1000);
    cluster = test::random_cluster(draws, 4, Bytes(1 << 30), true);
    setting = *make_setting(workload, cluster, costs, *find_schedule("1f1b"), 4, Bytes(0));
    const auto n = static_cast<std::int32_t>(workload.networks[0].layers.size());
    ends = {1, 2, 3, n};
  }

  test::Draws draws;
  Workload workload;
  CostTable costs;
  Cluster cluster;
  Setting setting;
  std::vector<std::int32_t> ends;
  Evaluator evaluator;
};

TEST(LocalMoves, EndWhereNoSingleMoveIsShorter) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Fixture f(seed);
    StageGrower range(f.workload, f.costs);
    const Nanoseconds start = *evaluate_division(f.setting, f.ends, f.evaluator);
    const EvaluatedDivision best =
        *improve(f.setting, {f.ends, start}, range, f.evaluator, INT64_MAX, {});
    EXPECT_LE(best.makespan, start);
    EXPECT_EQ(*evaluate_division(f.setting, best.ends, f.evaluator), best.makespan);
    for (std::size_t cut = 0; cut + 1 < best.ends.size(); ++cut) {
      for (const std::int32_t shift : {-1, 1}) {
        std::vector<std::int32_t> moved = best.ends;
        moved[cut] += shift;
        if (moved[cut] <= (cut == 0 ? 0 : moved[cut - 1]) || moved[cut] >= moved[cut + 1]) continue;
        EXPECT_GE(*evaluate_division(f.setting, moved, f.evaluator), best.makespan)
            << "seed " << seed;
      }
    }
  }
}

TEST(LocalMoves, ShortenABadDivision) {
  Fixture f(1);
  StageGrower range(f.workload, f.costs);
  const Nanoseconds start = *evaluate_division(f.setting, f.ends, f.evaluator);
  const EvaluatedDivision best =
      *improve(f.setting, {f.ends, start}, range, f.evaluator, INT64_MAX, {});
  EXPECT_LT(best.makespan, start);
}

TEST(LocalMoves, StopWhereMemoryOrABudgetOrTheUserSaysSo) {
  Fixture f(1);
  StageGrower range(f.workload, f.costs);
  const EvaluatedDivision start{f.ends, *evaluate_division(f.setting, f.ends, f.evaluator)};
  EXPECT_EQ(improve(f.setting, start, range, f.evaluator, 1, {})->ends, f.ends);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(improve(f.setting, start, range, f.evaluator, INT64_MAX, source.get_token())->ends,
            f.ends);
  for (Bytes& limit : f.setting.problem.limits) limit = Bytes(1);
  EXPECT_EQ(improve(f.setting, start, range, f.evaluator, INT64_MAX, {})->ends, f.ends);
}

}  // namespace
}  // namespace penstock
