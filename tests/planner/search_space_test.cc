#include "planner/search_space.h"

#include <gtest/gtest.h>

#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

PlanRequest small_request() {
  test::Draws draws(1);
  PlanRequest request;
  request.workload = test::random_workload(draws, 2, 12);
  request.cluster = test::random_cluster(draws, 3, Bytes(1 << 30), false);
  return request;
}

std::vector<std::int64_t> sizes(const SearchSpace& space) {
  std::vector<std::int64_t> out;
  for (const CostTable& costs : space.costs) out.push_back(costs.microbatch);
  return out;
}

TEST(SearchSpace, IsEveryDivisorEveryScheduleAndUpToAllDevices) {
  const Result<SearchSpace> space = search_space(small_request());
  ASSERT_TRUE(space.has_value()) << space.error().text();
  EXPECT_EQ(sizes(*space), (std::vector<std::int64_t>{12, 6, 4, 3, 2, 1}));
  EXPECT_EQ(space->schedules.size(), schedules().size());
  EXPECT_EQ(space->least_ranks, 1);
  EXPECT_EQ(space->most_ranks, 3);
}

TEST(SearchSpace, IsWhatWasAskedFor) {
  PlanRequest request = small_request();
  request.microbatch_sizes = {3, 12};
  request.schedules = {"GPipe"};
  request.ranks = 2;
  const Result<SearchSpace> space = search_space(request);
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(sizes(*space), (std::vector<std::int64_t>{12, 3}));
  ASSERT_EQ(space->schedules.size(), 1u);
  EXPECT_EQ(space->schedules[0].schedule->name, "gpipe");
  EXPECT_EQ(space->least_ranks, 2);
  EXPECT_EQ(space->most_ranks, 2);
}

TEST(SearchSpace, HasNoMoreRanksThanLayers) {
  test::Draws draws(1);
  PlanRequest request = small_request();
  request.workload = test::random_workload(draws, 0, 1);  // embedding, head, loss
  request.cluster = test::random_cluster(draws, 5, Bytes(1 << 30), false);
  EXPECT_EQ(search_space(request)->most_ranks, 3);
  request.ranks = 4;
  EXPECT_EQ(search_space(request).error().message, "4 stages, but network random has 3 layers");
}

TEST(SearchSpace, WithAProfileIsItsMicrobatches) {
  PlanRequest request = small_request();
  Profile profile;
  for (const std::int64_t size : {5, 7}) profile.times.push_back({"x", CostOp::F, size, {}});
  request.profile = profile;
  const Result<SearchSpace> space = search_space(request);
  ASSERT_FALSE(space.has_value());
  EXPECT_EQ(space.error().code, ErrorCode::Infeasible);
  EXPECT_EQ(space.error().message,
            "the profile holds microbatches of 5, 7, none of which divides the global batch of 12");
}

TEST(SearchSpace, HasNoMicrobatchesThatNobodyNamedByTheTenThousands) {
  PlanRequest request = small_request();
  request.workload.global_batch = 16384;
  EXPECT_EQ(sizes(*search_space(request)).back(), 1);
  request.workload.global_batch = 3 * 16384;
  EXPECT_EQ(sizes(*search_space(request)).back(), 3);
  request.workload.global_batch = 1'000'000'000;
  const Result<SearchSpace> space = search_space(request);
  ASSERT_TRUE(space.has_value()) << space.error().text();
  EXPECT_EQ(sizes(*space).back(), 62'500);
  request.microbatch_sizes = {100};
  EXPECT_EQ(sizes(*search_space(request)), std::vector<std::int64_t>{100});
}

TEST(SearchSpace, RefusesRequestsThatCannotBe) {
  PlanRequest request = small_request();
  request.ranks = 4;
  EXPECT_EQ(search_space(request).error().message, "4 ranks, but cluster random has 3 devices");
  request = small_request();
  request.ranks = -1;
  EXPECT_EQ(search_space(request).error().code, ErrorCode::Usage);
  request = small_request();
  request.microbatch_sizes = {5};
  EXPECT_EQ(search_space(request).error().message,
            "microbatches of 5 do not divide the global batch of 12");
  request = small_request();
  request.schedules = {"zigzag"};
  EXPECT_EQ(search_space(request).error().code, ErrorCode::Usage);
  request = small_request();
  request.cluster.devices[1].kind = "other";
  EXPECT_EQ(search_space(request).error().code, ErrorCode::Infeasible);
}

}  // namespace
}  // namespace penstock
