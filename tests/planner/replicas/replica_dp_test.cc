#include "planner/partition/replica_dp.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

struct Made {
  Workload workload;
  std::vector<CostTable> tables;
  ReplicaProblem problem;
};

std::unique_ptr<Made> random_problem(std::uint64_t seed) {
  test::Draws draws(seed);
  auto made = std::make_unique<Made>();
  made->workload = test::random_workload(draws, draws.between(2, 7), 24);
  ReplicaProblem& problem = made->problem;
  problem.workload = &made->workload;
  problem.devices = static_cast<std::int32_t>(draws.between(1, 4));
  problem.split = draws.chance(0.5) ? Split::Batch : Split::RoundRobin;
  problem.microbatches = draws.between(1, 6);
  made->tables.resize(static_cast<std::size_t>(problem.devices) + 1);
  problem.costs.resize(made->tables.size());
  for (std::int32_t r = 1; r <= problem.devices; ++r) {
    const auto i = static_cast<std::size_t>(r);
    made->tables[i] = test::random_costs(draws, made->workload, 4, 1000);
    problem.costs[i] = &made->tables[i];
  }
  for (std::int32_t d = 0; d < problem.devices; ++d) {
    auto& here = problem.options.emplace_back();
    for (std::int32_t r = 1; d + r <= problem.devices; ++r) here.push_back(r);
    problem.from_previous.push_back({Nanoseconds(draws.between(0, 500)), BytesPerSecond(1e9)});
    problem.limits.push_back(Bytes(std::int64_t{1} << 40));
  }
  return made;
}

// The bottleneck of one division, by a problem that leaves no choice.
std::optional<Nanoseconds> bottleneck(const Made& made, const std::vector<std::int32_t>& replicas) {
  ReplicaProblem fixed = made.problem;
  fixed.all_devices = true;
  fixed.devices = std::accumulate(replicas.begin(), replicas.end(), 0);
  fixed.options.assign(static_cast<std::size_t>(fixed.devices), {});
  std::size_t device = 0;
  for (const std::int32_t r : replicas) {
    fixed.options[device] = {r};
    device += static_cast<std::size_t>(r);
  }
  const auto division = divide_over_replicas(fixed);
  return division ? std::optional(division->bottleneck) : std::nullopt;
}

TEST(ReplicaDp, IsAsGoodAsTheBestOfAllReplicaVectors) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto made = random_problem(seed);
    const auto division = divide_over_replicas(made->problem);
    ASSERT_TRUE(division) << "seed " << seed;
    EXPECT_EQ(division->ends.back(), static_cast<std::int32_t>(made->workload.networks[0].layers.size()));
    std::optional<Nanoseconds> best;
    std::vector<std::int32_t> vector;
    const std::function<void(std::int32_t)> all = [&](std::int32_t left) {
      if (!vector.empty())
        if (const auto time = bottleneck(*made, vector)) best = std::min(best.value_or(*time), *time);
      for (std::int32_t r = 1; r <= left; ++r) {
        vector.push_back(r);
        all(left - r);
        vector.pop_back();
      }
    };
    all(made->problem.devices);
    ASSERT_TRUE(best);
    // Vectors that leave devices over end where a message would still be counted: no better.
    EXPECT_LE(division->bottleneck, *best + Nanoseconds(2'000'000)) << "seed " << seed;
    if (std::accumulate(division->replicas.begin(), division->replicas.end(), 0) == made->problem.devices) {
      EXPECT_EQ(division->bottleneck, *bottleneck(*made, division->replicas)) << "seed " << seed;
    }
  }
}

TEST(ReplicaDp, KeepsToLimitsAndOptions) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto made = random_problem(seed);
    for (auto& here : made->problem.options) std::erase_if(here, [](std::int32_t r) { return r != 1; });
    const auto ones = divide_over_replicas(made->problem);
    ASSERT_TRUE(ones);
    for (const std::int32_t r : ones->replicas) EXPECT_EQ(r, 1);
    made->problem.limits.assign(made->problem.limits.size(), Bytes(1));
    EXPECT_FALSE(divide_over_replicas(made->problem));
  }
}

}  // namespace
}  // namespace penstock
