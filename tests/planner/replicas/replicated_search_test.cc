#include "planner/replicated_search.h"

#include <gtest/gtest.h>

#include "core/formats/plan_format.h"
#include "core/replicas.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "sim/engine.h"

namespace penstock {
namespace {

PlanRequest request_of(const std::string& workload, const std::string& cluster,
                       std::vector<std::int32_t> replicas, Split split = Split::Batch) {
  PlanRequest request;
  request.workload = *build_workload(workload);
  request.cluster = *load_cluster(cluster);
  request.replicas = std::move(replicas);
  request.split = split;
  return request;
}

const std::string kGpt = "gpt:layers=4,hidden=64,heads=4,sequence=32,batch=16";
const std::string kFlat = "flat:5,bandwidth=10GB/s,latency=2us,memory=16GiB,device=v100";

TEST(ReplicatedSearch, NamedReplicasGiveValidPlansWhoseCertificatesHoldAfterAFileToo) {
  for (const Split split : {Split::Batch, Split::RoundRobin}) {
    for (const auto& replicas : std::vector<std::vector<std::int32_t>>{{2}, {2, 1}, {1, 2}, {2, 2}, {3, 1, 1}}) {
      const auto plan = make_plan(request_of(kGpt, kFlat, replicas, split));
      ASSERT_TRUE(plan) << plan.error().text();
      ASSERT_EQ(plan->stages.size(), replicas.size());
      for (std::size_t s = 0; s < replicas.size(); ++s) EXPECT_EQ(plan->stages[s].replicas, replicas[s]);
      for (const Violation& violation : verify(*plan)) ADD_FAILURE() << violation.rule << ": " << violation.message;
      const auto again = read_plan(write_plan(*plan), "plan.json");
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(*again, *plan);
      // What it claims is what simulating it gives.
      const auto simulated = simulate(*lower(*plan), {.steps = 3});
      ASSERT_TRUE(simulated);
      EXPECT_EQ(seconds(iteration_time(simulated->timeline)), plan->iteration_time_s);
      EXPECT_LE(plan->certificate.lower_bound_s, plan->iteration_time_s);
      EXPECT_GT(plan->certificate.lower_bound_s, 0);
    }
  }
}

TEST(ReplicatedSearch, AClaimThatIsTamperedWithIsFound) {
  const Plan plan = *make_plan(request_of(kGpt, kFlat, {2, 1}));
  const auto refused = [](const Plan& tampered) { return !verify(tampered).empty(); };
  Plan faster = plan;
  faster.iteration_time_s *= 0.9;
  EXPECT_TRUE(refused(faster));
  Plan link = plan;
  link.stages[0].reduce_bandwidth.value *= 2;
  EXPECT_TRUE(refused(link));
  Plan hop = plan;
  hop.edges[0].hops[1].bandwidth.value *= 2;
  EXPECT_TRUE(refused(hop));
  Plan bound = plan;
  bound.certificate.bounds.back().seconds *= 1.5;
  EXPECT_TRUE(refused(bound));
  Plan space = plan;
  space.certificate.plan_space = "all plans";
  EXPECT_TRUE(refused(space));
  Plan part = plan;
  part.part_times[0].layers[1].forward += Nanoseconds(1000);
  EXPECT_TRUE(refused(part));
}

TEST(ReplicatedSearch, SaysWhatDoesNotFitWhat) {
  auto plan = make_plan(request_of(kGpt, kFlat, {4, 2}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::Infeasible);
  EXPECT_NE(plan.error().message.find("take 6 ranks, but cluster"), std::string::npos);
  PlanRequest request = request_of(kGpt, kFlat, {3, 1});
  request.microbatch_sizes = {2};
  plan = make_plan(request);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("3 replicas cannot share microbatches of 2 samples"), std::string::npos);
  EXPECT_NE(plan.error().hint.find("round_robin"), std::string::npos);
  request.split = Split::RoundRobin;
  request.microbatch_sizes = {8};
  plan = make_plan(request);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("3 replicas cannot take turns at 2 microbatches"), std::string::npos);
  request = request_of(kGpt, kFlat, {2, 1});
  request.memory_limit = Bytes(1000);
  plan = make_plan(request);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::Infeasible);
  EXPECT_NE(plan.error().message.find("nothing fits"), std::string::npos);
  request = request_of(kGpt, kFlat, {2, 1});
  request.ranks = 4;
  EXPECT_EQ(make_plan(request).error().code, ErrorCode::Usage);
  EXPECT_EQ(make_plan(request_of(kGpt, kFlat, {2, 0})).error().code, ErrorCode::Usage);
}

TEST(ReplicatedSearch, OfAnyReplicasNothingFoundIsSlowerThanWithout) {
  // Layers as unequal as an MLP's first, whose whole is one stage: replicas are all that helps.
  for (const char* cluster : {"flat:2,bandwidth=100GB/s,latency=1us,memory=16GiB,device=v100",
                              "flat:4,bandwidth=100GB/s,latency=1us,memory=16GiB,device=v100"}) {
    PlanRequest request = request_of("mlp:layers=3,width=512,batch=256", cluster, {});
    const auto any = make_plan(request);
    ASSERT_TRUE(any) << any.error().text();
    request.replicas = {1};
    const auto none = make_plan(request);
    ASSERT_TRUE(none);
    EXPECT_LE(any->iteration_time_s, none->iteration_time_s);
    for (const Violation& violation : verify(*any)) ADD_FAILURE() << violation.rule << ": " << violation.message;
  }
}

TEST(ReplicatedSearch, IsAFunctionOfTheRequest) {
  const PlanRequest request = request_of(kGpt, kFlat, {2, 2});
  EXPECT_EQ(write_plan(*make_plan(request)), write_plan(*make_plan(request)));
}

}  // namespace
}  // namespace penstock
