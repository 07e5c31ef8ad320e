#include "planner/search.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/formats/plan_format.h"
#include "core/program_check.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/candidate.h"
#include "planner/certificate.h"
#include "planner/lower.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

PlanRequest request_of(const std::string& workload, const std::string& cluster,
                       std::int32_t ranks = 0) {
  PlanRequest request;
  const Result<Workload> built = build_workload(workload);
  const Result<Cluster> loaded = load_cluster(cluster);
  if (!built || !loaded) {
    ADD_FAILURE() << (built ? loaded.error() : built.error()).text();
    return request;
  }
  request.workload = *built;
  request.cluster = *loaded;
  request.ranks = ranks;
  return request;
}

void expect_sound(const Result<Plan>& plan, const std::string& what) {
  ASSERT_TRUE(plan.has_value()) << what << ": " << plan.error().text();
  const Result<void> valid = validate(*plan);
  EXPECT_TRUE(valid.has_value()) << what << ": " << valid.error().text();
  for (const Violation& violation : verify(*plan))
    ADD_FAILURE() << what << " " << violation.rule << ": " << violation.message;
  EXPECT_EQ(plan->strategy, "auto");
  EXPECT_EQ(plan->costs, "derived");
  EXPECT_FALSE(plan->certificate.binding_constraint.empty());
}

TEST(Search, PlansOfBuiltInModelsAreValidAndTheirCertificatesHold) {
  for (const char* workload :
       {"gpt:layers=4,hidden=64,heads=4,sequence=32,batch=8", "mlp:layers=6,width=64,batch=12",
        "resnet:width=8,size=16,batch=8", "unet:width=4,size=16,batch=8"}) {
    for (std::int32_t ranks = 1; ranks <= 4; ++ranks) {
      const std::string what = fmt::format("{} on {}", workload, ranks);
      const Result<Plan> plan = make_plan(request_of(
          workload, "flat:4,bandwidth=10GB/s,latency=2us,memory=16GiB,device=v100", ranks));
      expect_sound(plan, what);
      EXPECT_EQ(plan->ranks(), ranks) << what;
    }
    expect_sound(make_plan(request_of(
                     workload, "flat:4,bandwidth=10GB/s,latency=2us,memory=16GiB,device=v100")),
                 workload);
  }
}

// A U-Net's skips cross all that lies between its level's two halves: tensors that pass over stages.
TEST(Search, EdgesBetweenStagesThatAreNoNeighboursArePlannedCheckedAndPredicted) {
  for (const char* workload : {"resnet:blocks=2,width=8,size=16,batch=8", "unet:size=16,batch=8"}) {
    for (const char* schedule : {"gpipe", "1f1b"}) {
      bool skips = false;
      for (std::int32_t ranks = 1; ranks <= 4; ++ranks) {
        const std::string what = fmt::format("{} on {}, {}", workload, ranks, schedule);
        PlanRequest request = request_of(workload, "flat:4,device=cpu", ranks);
        request.schedules = {schedule};
        const Result<Plan> plan = make_plan(request);
        expect_sound(plan, what);
        ASSERT_TRUE(plan.has_value());
        EXPECT_EQ(plan->ranks(), ranks) << what;
        EXPECT_GT(plan->iteration_time_s, 0) << what;
        const Result<Program> program = lower(*plan);
        ASSERT_TRUE(program.has_value()) << what << ": " << program.error().text();
        for (const Violation& violation : check(*program))
          ADD_FAILURE() << what << " " << violation.rule << ": " << violation.message;
        for (const PlanEdge& edge : plan->edges) skips |= edge.to.value > edge.from.value + 1;
      }
      EXPECT_TRUE(skips || !std::string(workload).starts_with("unet")) << schedule;
    }
  }
}

TEST(Search, TheSameRequestGivesTheSamePlan) {
  const PlanRequest request = request_of("gpt:layers=3,hidden=64,heads=4,sequence=32,batch=8",
                                         "flat:3,bandwidth=1GB/s,memory=1GiB,device=cpu");
  const std::string first = write_plan(*make_plan(request));
  EXPECT_EQ(first, write_plan(*make_plan(request)));
  // And what is read back from a file still holds.
  const Result<Plan> read = read_plan(first, "plan.json");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_TRUE(verify(*read).empty());
}

// Random networks and clusters, against every division in every setting, each simulated.
TEST(Search, LiesBetweenItsBoundAndWhatTryingEverythingFinds) {
  int equal = 0, tried = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::Draws draws(combine(seed, 5));
    PlanRequest request;
    request.workload = test::random_workload(draws, draws.between(0, 4), draws.between(1, 4));
    request.cluster =
        test::random_cluster(draws, draws.between(1, 3), Bytes(std::int64_t{1} << 40), true);
    if (draws.chance(0.5)) {
      const Result<Plan> loose = make_plan(request);
      ASSERT_TRUE(loose.has_value()) << loose.error().text();
      Bytes peak;
      for (const PlanDevice& device : loose->devices)
        peak = std::max(peak, device.peak_memory_bytes);
      request.memory_limit = Bytes(peak.value - draws.between(1, peak.value / 3));
    }
    const auto n = static_cast<std::int32_t>(request.workload.networks[0].layers.size());
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t size = 1; size <= request.workload.global_batch; ++size) {
      if (request.workload.global_batch % size != 0) continue;
      const CostTable costs = *derived_costs(request.workload, request.cluster.devices[0], size);
      for (const Schedule& schedule : schedules()) {
        for (std::int32_t p = 1;
             p <=
             std::min<std::int32_t>(n, static_cast<std::int32_t>(request.cluster.devices.size()));
             ++p) {
          const Setting setting = *make_setting(request.workload, request.cluster, costs,
                                                {&schedule, {}}, p, request.memory_limit);
          std::vector<std::int32_t> ends;
          const std::function<void(std::int32_t)> extend = [&](std::int32_t first) {
            if (static_cast<std::int32_t>(ends.size()) + 1 < p) {
              for (std::int32_t end = first + 1; end < n; ++end) {
                ends.push_back(end);
                extend(end);
                ends.pop_back();
              }
              return;
            }
            ends.push_back(n);
            Plan plan = *plan_of(setting, ends);
            if (predict(plan)) best = std::min(best, plan.iteration_time_s);
            ends.pop_back();
          };
          extend(0);
        }
      }
    }
    const Result<Plan> plan = make_plan(request);
    ASSERT_EQ(plan.has_value(), best < std::numeric_limits<double>::infinity()) << "seed " << seed;
    if (!plan) continue;
    expect_sound(plan, fmt::format("seed {}", seed));
    EXPECT_GE(plan->iteration_time_s, best * (1 - 1e-12)) << "seed " << seed;
    EXPECT_LE(plan->iteration_time_s, best * 1.1) << "seed " << seed;
    ++tried;
    equal += plan->iteration_time_s <= best * (1 + 1e-12);
  }
  EXPECT_GT(tried, 30);
  EXPECT_GE(equal, tried * 9 / 10);  // moves of single cuts stop short of the optimum now and then
}

TEST(Search, WhatDoesNotFitIsInfeasibleByStageBytesAndRemedy) {
  PlanRequest request = request_of("gpt:layers=4,hidden=128,heads=4,sequence=64,batch=8",
                                   "flat:2,bandwidth=10GB/s,memory=16GiB,device=v100");
  request.memory_limit = Bytes(1 << 20);
  const Result<Plan> plan = make_plan(request);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, ErrorCode::Infeasible);
  EXPECT_NE(plan.error().message.find("microbatches of 1"), std::string::npos)
      << plan.error().message;
  EXPECT_NE(plan.error().message.find("bytes) more than"), std::string::npos)
      << plan.error().message;
  EXPECT_EQ(plan.error().hint,
            "try a cluster with more or larger devices, or a higher memory limit");

  request.schedules = {"gpipe"};
  request.microbatch_sizes = {4};
  request.ranks = 1;
  EXPECT_EQ(make_plan(request).error().hint,
            "try a smaller microbatch, or 1f1b, which keeps fewer microbatches than gpipe, or "
            "more ranks, or a higher memory limit");
}

// Limits from loose to just below the least that works: the plan keeps within each of them,
// exactly.
TEST(Search, KeepsWithinTheMemoryLimit) {
  PlanRequest request = request_of("gpt:layers=4,hidden=64,heads=4,sequence=64,batch=16",
                                   "flat:3,bandwidth=10GB/s,memory=16GiB,device=v100");
  double before = 0;
  int found = 0;
  for (std::int64_t limit = 40'000'000; limit > 100'000; limit = limit * 7 / 8) {
    request.memory_limit = Bytes(limit);
    const Result<Plan> plan = make_plan(request);
    if (!plan) {
      EXPECT_EQ(plan.error().code, ErrorCode::Infeasible) << plan.error().text();
      break;
    }
    ++found;
    expect_sound(plan, fmt::format("limit {}", limit));
    for (const PlanDevice& device : plan->devices) EXPECT_LE(device.peak_memory_bytes.value, limit);
    EXPECT_GE(plan->iteration_time_s, before * 0.98) << "less memory, and yet much faster";
    before = plan->iteration_time_s;
  }
  EXPECT_GT(found, 5);
  EXPECT_LT(found, 40);
}

TEST(Search, StoppedBeforeItFoundAnythingItWasInterrupted) {
  PlanRequest request =
      request_of("mlp:layers=2,width=16,batch=6", "flat:2,bandwidth=10GB/s,memory=1GiB,device=cpu");
  std::stop_source source;
  source.request_stop();
  request.stop = source.get_token();
  EXPECT_EQ(make_plan(request).error().code, ErrorCode::Interrupted);
}

TEST(Search, ReportsProgressAndStopsWithTheBestSoFar) {
  PlanRequest request =
      request_of("mlp:layers=6,width=32,batch=8", "flat:4,bandwidth=10GB/s,memory=1GiB,device=cpu");
  std::stop_source source;
  request.stop = source.get_token();
  std::size_t calls = 0, total = 0;
  request.progress = [&](std::size_t done, std::size_t of, double best) {
    EXPECT_EQ(done, ++calls);
    EXPECT_GT(best, 0);
    total = of;
    if (done == 3) source.request_stop();
  };
  const Result<Plan> plan = make_plan(request);
  expect_sound(plan, "stopped");
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(total, 4u * 2 * 4);  // microbatches 1, 2, 4, 8; schedules; ranks
}

TEST(Search, TellsTheRunnerUp) {
  const Result<Plan> plan = make_plan(request_of(
      "mlp:layers=6,width=64,batch=8", "flat:2,bandwidth=10GB/s,memory=1GiB,device=v100"));
  ASSERT_TRUE(plan.has_value());
  ASSERT_TRUE(plan->certificate.runner_up.has_value());
  EXPECT_NE(plan->certificate.runner_up->find(" an iteration, "), std::string::npos)
      << *plan->certificate.runner_up;
}

}  // namespace
}  // namespace penstock
