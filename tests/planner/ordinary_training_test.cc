#include "planner/ordinary_training.h"

#include <gtest/gtest.h>

#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "planner/search.h"

namespace penstock {
namespace {

PlanRequest request_of(Workload workload) {
  PlanRequest request;
  request.workload = std::move(workload);
  request.cluster = *load_cluster("flat:2,device=v100,bandwidth=1GB/s");
  return request;
}

Workload tiny() { return *build_workload("mlp:layers=3,width=16,batch=4"); }

void expect_refused(const Workload& workload, std::string_view what) {
  const auto plan = make_plan(request_of(workload));
  ASSERT_FALSE(plan) << what;
  EXPECT_EQ(plan.error().code, ErrorCode::Infeasible) << plan.error().text();
  EXPECT_FALSE(plan.error().hint.empty());
}

TEST(OrdinaryTraining, IsPlannedAndAnythingBeyondItIsRefused) {
  EXPECT_TRUE(make_plan(request_of(tiny())));
  Workload frozen = tiny();
  frozen.stores[0].kind = StoreKind::Frozen;
  expect_refused(frozen, "a frozen store");
  Workload phased = tiny();
  phased.phases = {{.name = "first", .steps = 10}, {.name = "second"}};
  expect_refused(phased, "two phases");
  Workload alternating = tiny();
  alternating.hyper_period = 2;
  expect_refused(alternating, "a hyper-period of two steps");
  Workload tasked = tiny();
  tasked.tasks.push_back({.name = "forward", .kind = TaskKind::Forward, .network = NetworkId(0), .store = StoreId(0)});
  expect_refused(tasked, "a task");
}

TEST(OrdinaryTraining, APlanEditedBeyondItIsNotLowered) {
  auto plan = make_plan(request_of(tiny()));
  ASSERT_TRUE(plan) << plan.error().text();
  plan->workload.stores[0].kind = StoreKind::Frozen;
  EXPECT_FALSE(lower(*plan));
}

TEST(MakePlan, RefusesTimesThatNobodyWouldWaitFor) {
  int tried = 0;
  for (const char* cluster : {"flat:2,device=v100,bandwidth=1e-6B/s", "flat:2,device=v100,bandwidth=1e-30B/s"}) {
    PlanRequest request = request_of(tiny());
    auto slow = load_cluster(cluster);
    if (!slow) continue;  // refused even earlier
    ++tried;
    request.cluster = *slow;
    request.ranks = 2;
    const auto plan = make_plan(request);
    ASSERT_FALSE(plan) << cluster;
    EXPECT_EQ(plan.error().code, ErrorCode::BadInput) << plan.error().text();
    EXPECT_FALSE(plan.error().hint.empty());
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
}  // namespace penstock
