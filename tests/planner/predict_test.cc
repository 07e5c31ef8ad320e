#include "planner/predict.h"

#include <gtest/gtest.h>

#include "planner/candidate.h"
#include "planner/lower.h"
#include "sim/evaluate.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

struct Fixture {
  explicit Fixture(std::uint64_t seed, const char* schedule = "1f1b") : draws(seed) {
    workload = test::random_workload(draws, 8, 6);
    costs = test::random_costs(draws, workload, 1, 1000);
    cluster = test::random_cluster(draws, 3, Bytes(1 << 30), false);
    setting = *make_setting(workload, cluster, costs, *find_schedule(schedule), 3, Bytes(0));
    plan = *plan_of(setting, {2, 5, static_cast<std::int32_t>(workload.networks[0].layers.size())});
  }

  test::Draws draws;
  Workload workload;
  CostTable costs;
  Cluster cluster;
  Setting setting;
  Plan plan;
};

TEST(Predict, FillsTimeThroughputAndPeaks) {
  Fixture f(1);
  ASSERT_TRUE(predict(f.plan).has_value());
  const Program program = *lower(f.plan);
  for (std::size_t r = 0; r < 3; ++r)
    EXPECT_EQ(f.plan.devices[r].peak_memory_bytes, program.arena[r]);
  EXPECT_GT(f.plan.iteration_time_s, 0);
  EXPECT_DOUBLE_EQ(f.plan.throughput_samples_per_s, 6 / f.plan.iteration_time_s);
}

// Back to back a step takes no longer than alone: the first rank starts the next one while the
// others finish this one.
TEST(Predict, TheSteadyIterationIsNotLongerThanTheMakespan) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Fixture f(seed, seed % 2 == 0 ? "1f1b" : "gpipe");
    ASSERT_TRUE(predict(f.plan).has_value());
    const Order order = with_steps(*order_of(f.plan));
    Evaluator evaluator;
    const auto evaluation =
        evaluator.evaluate(order, order_costs(f.plan, order), Discipline::Rendezvous);
    EXPECT_LE(f.plan.iteration_time_s, seconds((*evaluation)->makespan) * (1 + 1e-12))
        << "seed " << seed;
  }
}

TEST(Predict, OverItsLimitAPlanIsInfeasibleButItsPeaksAreKnown) {
  Fixture f(2);
  ASSERT_TRUE(predict(f.plan).has_value());
  const Bytes peak = f.plan.devices[1].peak_memory_bytes;
  f.plan.devices[1].memory_limit_bytes = peak - Bytes(1);
  f.plan.devices[1].peak_memory_bytes = Bytes(0);
  const Result<void> predicted = predict(f.plan);
  ASSERT_FALSE(predicted.has_value());
  EXPECT_EQ(predicted.error().code, ErrorCode::Infeasible);
  EXPECT_NE(predicted.error().message.find("R8"), std::string::npos) << predicted.error().message;
  EXPECT_EQ(f.plan.devices[1].peak_memory_bytes, peak);
}

}  // namespace
}  // namespace penstock
