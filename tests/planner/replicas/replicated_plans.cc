#include "tests/planner/replicas/replicated_plans.h"

#include <gtest/gtest.h>

#include <numeric>

#include "planner/replicated_search.h"
#include "tests/planner/random_workloads.h"

namespace penstock::test {

Plan random_replicated_plan(std::uint64_t seed) {
  Draws draws(seed);
  PlanRequest request;
  const std::int64_t microbatch = draws.between(3, 6), microbatches = draws.between(3, 7);
  request.workload = random_workload(draws, draws.between(3, 14), microbatch * microbatches);
  if (draws.chance(0.3)) request.workload.optimizer.clip = 1;
  const auto n = static_cast<std::int32_t>(request.workload.networks[0].layers.size());
  const auto p = static_cast<std::int32_t>(draws.between(1, std::min(n, 4)));
  std::vector<std::int32_t> ends, replicas;
  for (std::int32_t s = 1, end = 0; s <= p; ++s) {
    end = s == p ? n : static_cast<std::int32_t>(draws.between(end + 1, n - (p - s)));
    ends.push_back(end);
    replicas.push_back(static_cast<std::int32_t>(draws.between(s == p && p == 1 ? 2 : 1, 3)));
  }
  request.cluster = random_cluster(draws, std::accumulate(replicas.begin(), replicas.end(), 0),
                                   Bytes(std::int64_t{1} << 32), draws.chance(0.5));
  const Split split = draws.chance(0.5) ? Split::Batch : Split::RoundRobin;
  ReplicaCosts costs;
  costs.microbatch = microbatch;
  for (std::int64_t part = 1; part <= microbatch; ++part)
    costs.parts[part] = random_costs(draws, request.workload, part, 1000);
  const ChosenSchedule chosen = *find_schedule(draws.chance(0.5) ? "gpipe" : "1f1b");
  auto plan = replicated_plan(request, costs, chosen, ends, replicas, split);
  if (!plan) {
    ADD_FAILURE() << plan.error().text();
    return {};
  }
  const Bytes limit = draws.chance(0.5) ? Bytes(1) : Bytes(1 << 20);
  plan->bucket_limits = {limit, limit};
  plan->iteration_time_s = plan->throughput_samples_per_s = 1;
  return *plan;
}

}  // namespace penstock::test
