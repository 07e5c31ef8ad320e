#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "planner/bounds/bounds.h"
#include "planner/bounds/chains.h"
#include "planner/candidate.h"
#include "planner/predict.h"
#include "planner/schedules/built_in.h"
#include "sim/evaluate.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

std::vector<StageTimes> layer_times(const CostTable& costs) {
  std::vector<StageTimes> layers;
  for (std::size_t l = 0; l < costs.layers.size(); ++l)
    layers.push_back(stage_times(costs, {LayerId(static_cast<std::int64_t>(l))}));
  return layers;
}

TEST(DivisionBound, DominatesTheBoundsOfSingleLayers) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    test::Draws draws(seed);
    const Workload workload = test::random_workload(draws, draws.between(0, 20), 8);
    const std::vector<StageTimes> layers = layer_times(test::random_costs(draws, workload, 1, 200));
    const BoundProblem problem{&workload.networks[0], &layers,
                               static_cast<std::int32_t>(draws.between(1, 6)), draws.between(1, 8)};
    const double division = division_bound(problem).seconds;
    for (const Bound& bound :
         {work_bound(problem), longest_layer_bound(problem), fill_and_drain_bound(problem)})
      EXPECT_LE(bound.seconds, division * (1 + 1e-12)) << bound.name << " seed " << seed;
  }
}

// Equal layers, one a rank, free transfers: GPipe and 1F1B take (m + p - 1)·T, and so does the
// bound.
TEST(DivisionBound, IsWhatABalancedPipelineTakes) {
  for (std::int64_t p = 1; p <= 6; ++p) {
    Network network;
    std::vector<StageTimes> layers(static_cast<std::size_t>(p));
    for (std::int64_t l = 0; l < p; ++l) {
      Layer& layer = network.layers.emplace_back();
      if (l > 0) layer.inputs = {LayerId(l - 1)};
      layers[static_cast<std::size_t>(l)].forward = Nanoseconds(10);
      layers[static_cast<std::size_t>(l)].backward_input = Nanoseconds(20);
    }
    for (const std::int64_t m : {1, 2, 5, 16})
      EXPECT_DOUBLE_EQ(division_bound({&network, &layers, static_cast<std::int32_t>(p), m}).seconds,
                       static_cast<double>((m + p - 1) * 30) * 1e-9);
  }
}

// No division into at most that many stages, in either schedule, is faster when its program is
// simulated.
TEST(DivisionBound, NoDivisionIsFasterInTheEngine) {
  double least_gap = 1;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    test::Draws draws(seed);
    const std::int64_t batch = draws.between(1, 5);
    const Workload workload = test::random_workload(draws, draws.between(0, 4), batch);
    const CostTable costs = test::random_costs(draws, workload, 1, 1000);
    const auto n = static_cast<std::int32_t>(workload.networks[0].layers.size());
    const auto most = static_cast<std::int32_t>(draws.between(1, std::min(n, 4)));
    const Cluster cluster = test::random_cluster(draws, most, Bytes(std::int64_t{1} << 40), false);
    const std::vector<StageTimes> layers = layer_times(costs);
    const double bound = division_bound({&workload.networks[0], &layers, most, batch}).seconds;
    double fastest = std::numeric_limits<double>::infinity();
    for (std::int32_t p = 1; p <= most; ++p) {
      for (const char* name : {"gpipe", "1f1b"}) {
        const Setting setting =
            *make_setting(workload, cluster, costs, *find_schedule(name), p, Bytes(0));
        std::vector<std::int32_t> ends;
        const std::function<void(std::int32_t)> extend = [&](std::int32_t first) {
          if (static_cast<std::int32_t>(ends.size()) == p - 1) {
            ends.push_back(n);
            Plan plan = *plan_of(setting, ends);
            const Result<void> predicted = predict(plan);
            ASSERT_TRUE(predicted.has_value()) << predicted.error().text();
            ASSERT_LE(bound, plan.iteration_time_s * (1 + 1e-12))
                << "seed " << seed << " " << name << " " << p;
            fastest = std::min(fastest, plan.iteration_time_s);
            ends.pop_back();
            return;
          }
          for (std::int32_t end = first + 1; end < n; ++end) {
            ends.push_back(end);
            extend(end);
            ends.pop_back();
          }
        };
        extend(0);
      }
    }
    least_gap = std::min(least_gap, 1 - bound / fastest);
  }
  EXPECT_LT(least_gap, 0.01);  // and sometimes it is met
}

}  // namespace
}  // namespace penstock
