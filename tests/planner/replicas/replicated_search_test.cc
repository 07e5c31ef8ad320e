#include "planner/replicated_search.h"

#include <gtest/gtest.h>

#include "core/formats/plan_format.h"
#include "core/replicas.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "planner/predict.h"
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

// More than 27 MiB of gradients: the last backward is cut into parts, all of which read what R has made.
TEST(ReplicatedSearch, AStageThatRecomputesMayCutItsLastBackwardAtManyBuckets) {
  PlanRequest request = request_of("gpt:layers=6,hidden=512,heads=4,sequence=16,batch=8", kFlat, {2});
  request.recompute = {LayerKind::LayerNorm, LayerKind::Gelu, LayerKind::Attention, LayerKind::Linear};
  request.microbatch_sizes = {2};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_FALSE(plan->stages[0].recompute.empty());
  int parts = 0;
  const Program program = *lower(*plan);
  for (const Instruction& instruction : program.ranks[0].streams[0].body)
    if (program.is_part(instruction)) parts = std::max(parts, instruction.key.slice + 1);
  EXPECT_GE(parts, 3);
  for (const Violation& violation : check(program)) ADD_FAILURE() << violation.message;
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
  for (const std::string costs : {"derived", "profiled"}) {  // the hops are there in any case
    Plan slower = plan;
    slower.costs = costs;
    ASSERT_FALSE(slower.edges[0].hops.empty());
    slower.edges[0].activation += Nanoseconds(1);
    EXPECT_TRUE(refused(slower)) << costs;
    slower.edges[0].activation -= Nanoseconds(1);
    slower.edges[0].hops.back().back_latency += slower.edges[0].gradient;
    EXPECT_TRUE(refused(slower)) << costs;
  }
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

// Four replicas on two nodes of two: of the ring's hops two stay within a node and two do not.
TEST(ReplicatedSearch, SumsAndNormsAreTakenOverTheSlowestHopOfARing) {
  PlanRequest request = request_of(
      kGpt, "nodes:2x2,device=v100,memory=16GiB,intra=100GB/s,inter=5GB/s", {4});
  request.workload.optimizer.clip = 1;
  const Plan plan = *make_plan(request);
  EXPECT_TRUE(verify(plan).empty());
  const Path near = *route(plan.cluster, DeviceId(0), DeviceId(1)),
             far = *route(plan.cluster, DeviceId(1), DeviceId(2));
  ASSERT_NE(near.bandwidth, far.bandwidth);
  EXPECT_EQ(plan.stages[0].reduce_bandwidth, far.bandwidth);
  EXPECT_EQ(plan.gather_bandwidth, far.bandwidth);
  // A plan that says so of a faster one is found out, its times made to agree or not.
  const auto refused = [](const Plan& tampered, std::string_view words) {
    for (const Violation& violation : verify(tampered))
      if (violation.rule == "times" && violation.message.find(words) != std::string::npos) return true;
    return false;
  };
  Plan sums = plan;
  sums.stages[0].reduce_latency = near.latency;
  sums.stages[0].reduce_bandwidth = near.bandwidth;
  EXPECT_TRUE(predict(sums));
  EXPECT_TRUE(refused(sums, "the slowest hop around the replicas of stage 0"));
  Plan norms = plan;
  norms.gather_latency = near.latency;
  norms.gather_bandwidth = near.bandwidth;
  EXPECT_TRUE(predict(norms));
  EXPECT_TRUE(refused(norms, "the slowest hop around the ranks"));
}

// 160 blocks of this width make more buckets of 25 MiB than an instruction's key can tell apart.
TEST(ReplicatedSearch, AStageOfAnySizeHasReplicas) {
  PlanRequest request =
      request_of("gpt:layers=160,hidden=1280,heads=20,batch=16",
                 "flat:2,bandwidth=100GB/s,latency=2us,memory=4TiB,device=a100-80", {2});
  request.schedules = {"1f1b"};
  request.microbatch_sizes = {2};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan) << plan.error().text();
  const auto program = lower(*plan);
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_EQ(program->groups.size(), 256u);
  for (const Violation& violation : verify(*plan)) ADD_FAILURE() << violation.rule << ": " << violation.message;
}

TEST(ReplicatedSearch, ReplicasOfOneEachAreAPlanOfThatManyStagesWithoutAny) {
  const auto plan = make_plan(request_of(kGpt, kFlat, {1, 1}));
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->stages.size(), 2u);
  EXPECT_FALSE(is_replicated(*plan));
  PlanRequest ranks = request_of(kGpt, kFlat, {1});
  ranks.ranks = 2;
  EXPECT_EQ(write_plan(*plan), write_plan(*make_plan(ranks)));
  // As for others: what does not fit is said.
  EXPECT_EQ(make_plan(request_of(kGpt, kFlat, {1, 1, 1, 1, 1, 1})).error().code, ErrorCode::Infeasible);
  ranks.replicas = {1, 1, 1};
  EXPECT_EQ(make_plan(ranks).error().code, ErrorCode::Usage);
}

TEST(ReplicatedSearch, ASplitOfNoReplicasIsRefused) {
  for (const auto& replicas : std::vector<std::vector<std::int32_t>>{{1}, {1, 1}}) {
    const auto plan = make_plan(request_of(kGpt, kFlat, replicas, Split::RoundRobin));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::Usage);
    EXPECT_NE(plan.error().hint.find("--replicas 2,1"), std::string::npos);
  }
}

// More copies than a key can tell apart: the candidate is refused, and where any number will do there
// is a plan without.
TEST(ReplicatedSearch, ACandidateThatCannotBeLoweredIsRefused) {
  PlanRequest request =
      request_of("mlp:layers=1,width=8,batch=512",
                 "flat:300,bandwidth=100GB/s,latency=1ns,memory=1GiB,device=v100", {300});
  request.microbatch_sizes = {512};
  request.schedules = {"1f1b"};
  const auto named = make_plan(request);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, ErrorCode::Infeasible);
  EXPECT_NE(named.error().message.find("stage 0 has 300 replicas"), std::string::npos) << named.error().text();
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
