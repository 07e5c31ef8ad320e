#include "planner/bounds/replica_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/replicas.h"
#include "tests/planner/replicas/replicated_plans.h"

namespace penstock {
namespace {

double work_of(const Plan& plan, const ReplicaSpace& space, std::size_t first, std::size_t end,
               std::int32_t r) {
  const bool shares = space.split == Split::Batch;
  const std::vector<StageTimes>& layers =
      *layer_times_at(plan, shares ? largest_part(plan.microbatch_size, r) : plan.microbatch_size);
  Nanoseconds work;
  for (std::size_t l = first; l < end; ++l)
    work += (shares ? plan.microbatches : (plan.microbatches + r - 1) / r) *
                (layers[l].order_forward() + layers[l].backward()) +
            layers[l].step;
  return seconds(work);
}

// Over all divisions and replicas of the space.
double brute_force(const Plan& plan, const ReplicaSpace& space, std::size_t layer, std::size_t device) {
  const std::size_t n = plan.layer_times.size();
  if (layer == n)
    return space.replicas.empty() || device == static_cast<std::size_t>(space.devices) ? 0 : 1e9;
  double best = 1e9;
  if (device == static_cast<std::size_t>(space.devices)) return best;
  const std::vector<std::int32_t> options = space.options()[device];
  for (const std::int32_t r : options)
    for (std::size_t end = layer + 1; end <= n; ++end)
      best = std::min(best, std::max(work_of(plan, space, layer, end, r),
                                     brute_force(plan, space, end, device + static_cast<std::size_t>(r))));
  return best;
}

TEST(ReplicaBound, DivisionIsTheLeastWorkOfTheBusiestRankOverTheSpace) {
  std::int64_t plans = 0, spaces = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Plan plan = test::random_replicated_plan(seed);
    if (plan.layer_times.size() > 9 || !is_replicated(plan)) continue;
    ++plans;
    for (const ReplicaSpace& space : replica_spaces(plan)) {
      if (space.devices > 4) continue;
      const std::vector<Bound> bounds = replica_bounds(plan, space);
      EXPECT_NEAR(bounds[1].seconds, brute_force(plan, space, 0, 0), 1e-12) << "seed " << seed;
      EXPECT_LE(bounds[0].seconds, bounds[1].seconds);
      ++spaces;
    }
  }
  EXPECT_GT(plans, 10);
  EXPECT_GT(spaces, 10);
}

TEST(ReplicaBound, SpacesAreSaidInWords) {
  ReplicaSpace named;
  named.replicas = {2, 1};
  named.devices = 3;
  EXPECT_EQ(text(named, 8, 2),
            "contiguous stages on 2, 1 ranks in this order, that share every microbatch; 8 "
            "microbatches of 2 samples, forwards and full backwards in any order");
  EXPECT_EQ(named.options(), (std::vector<std::vector<std::int32_t>>{{2}, {}, {1}}));
  ReplicaSpace any;
  any.counts = {1, 2};
  any.devices = 3;
  any.split = Split::RoundRobin;
  EXPECT_EQ(text(any, 8, 1),
            "contiguous stages, each on 1 or 2 ranks that take turns at microbatches, on at most 3 "
            "ranks; 8 microbatches of 1 sample, forwards and full backwards in any order");
  EXPECT_EQ(any.options(), (std::vector<std::vector<std::int32_t>>{{1, 2}, {1, 2}, {1}}));
}

}  // namespace
}  // namespace penstock
