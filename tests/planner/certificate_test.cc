#include "planner/certificate.h"

#include <gtest/gtest.h>

#include "planner/candidate.h"
#include "planner/explain.h"
#include "planner/predict.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

Plan certified_plan(std::uint64_t seed) {
  test::Draws draws(seed);
  const Workload workload = test::random_workload(draws, 8, 6);
  const Cluster cluster = test::random_cluster(draws, 4, Bytes(1 << 30), false);
  const CostTable costs = *derived_costs(workload, cluster.devices.front(), 2);
  const Setting setting =
      *make_setting(workload, cluster, costs, *find_schedule("1f1b"), 3, Bytes(0));
  Plan plan =
      *plan_of(setting, {2, 5, static_cast<std::int32_t>(workload.networks[0].layers.size())});
  EXPECT_TRUE(predict(plan).has_value());
  certify(plan, 4);
  plan.certificate.binding_constraint = binding_constraint(plan);
  return plan;
}

std::string rules(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& violation : violations)
    out += violation.rule + ": " + violation.message + "\n";
  return out;
}

TEST(Certificate, HoldsForWhatThePlannerMakes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(rules(verify(certified_plan(seed))), "") << "seed " << seed;
}

TEST(Certificate, NamesItsBoundsAndItsSpace) {
  const Plan plan = certified_plan(1);
  const Certificate& certificate = plan.certificate;
  ASSERT_EQ(certificate.bounds.size(), 4u);
  EXPECT_EQ(certificate.bounds[0].name, "work");
  EXPECT_EQ(certificate.bounds[3].name, "division");
  EXPECT_EQ(certificate.lower_bound_s, certificate.bounds[3].seconds);
  EXPECT_GE(certificate.gap, 0);
  EXPECT_LT(certificate.gap, 1);
  EXPECT_EQ(certificate.plan_space,
            "contiguous stages, one a rank, on at most 4 ranks; 3 microbatches of 2 samples, "
            "forwards and full backwards in any order");
}

// One claim at a time is made false: each is found out.
TEST(Certificate, FindsEveryFalseClaim) {
  const Plan good = certified_plan(1);
  const auto broken = [&](auto&& breaks) {
    Plan plan = good;
    breaks(plan);
    const std::vector<Violation> violations = verify(plan);
    return violations.empty() ? std::string() : violations.front().rule;
  };
  EXPECT_EQ(broken([](Plan& p) { p.microbatches += 1; }), "plan");
  EXPECT_EQ(broken([](Plan& p) { p.stages[0].times.forward += Nanoseconds(1); }), "times");
  EXPECT_EQ(broken([](Plan& p) { p.layer_times[3].backward_input += Nanoseconds(1); }), "times");
  EXPECT_EQ(broken([](Plan& p) {  // of a layer and its stage alike
              p.layer_times[1].forward += Nanoseconds(1);
              p.stages[0].times.forward += Nanoseconds(1);
            }),
            "times");
  EXPECT_EQ(broken([](Plan& p) { p.edges[0].activation += Nanoseconds(1); }), "times");
  EXPECT_EQ(broken([](Plan& p) { p.stages[1].memory.stash += Bytes(64); }), "plan");
  EXPECT_EQ(broken([](Plan& p) { p.stages[1].memory.workspace += Bytes(64); }), "memory");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.binding_constraint += "."; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.devices[2].peak_memory_bytes -= Bytes(64); }), "memory");
  EXPECT_EQ(
      broken([](Plan& p) { p.devices[2].memory_limit_bytes += Bytes(std::int64_t{1} << 31); }),
      "memory");
  EXPECT_EQ(broken([](Plan& p) { p.iteration_time_s *= 0.999; }), "iteration time");
  EXPECT_EQ(broken([](Plan& p) { p.throughput_samples_per_s *= 2; }), "iteration time");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.plan_space = "all plans"; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.lower_bound_s *= 1.01; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.bounds.pop_back(); }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.bounds[0].seconds *= 2; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.gap += 0.01; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.objective_value += 1; }), "certificate");
  EXPECT_EQ(broken([](Plan& p) { p.certificate.objective = "memory"; }), "certificate");
}

TEST(Certificate, ALimitBelowThePeakBreaksIt) {
  Plan plan = certified_plan(1);
  plan.devices[0].memory_limit_bytes = plan.devices[0].peak_memory_bytes - Bytes(1);
  ASSERT_FALSE(verify(plan).empty());
  EXPECT_EQ(verify(plan).front().rule, "R8");
}

}  // namespace
}  // namespace penstock
