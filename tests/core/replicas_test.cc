#include "core/replicas.h"

#include <gtest/gtest.h>

#include "tests/core/samples.h"

namespace penstock {
namespace {

TEST(Replicas, ShareAMicrobatchAsEvenlyAsWholeSamplesAllow) {
  EXPECT_EQ(replica_samples(5, 2, 0), (SampleRange{0, 3}));
  EXPECT_EQ(replica_samples(5, 2, 1), (SampleRange{3, 2}));
  for (std::int64_t samples = 1; samples < 20; ++samples)
    for (std::int32_t replicas = 1; replicas <= samples; ++replicas) {
      std::int64_t end = 0;
      for (std::int32_t r = 0; r < replicas; ++r) {
        const SampleRange range = replica_samples(samples, replicas, r);
        EXPECT_EQ(range.first, end);
        EXPECT_GE(range.count, 1);
        EXPECT_LE(range.count, largest_part(samples, replicas));
        end = range.end();
      }
      EXPECT_EQ(end, samples);
      EXPECT_EQ(replica_samples(samples, replicas, 0).count, largest_part(samples, replicas));
    }
}

Plan shared(std::int32_t from, Split from_split, std::int32_t to, Split to_split) {
  Plan plan = test::sample_plan();
  plan.microbatch_size = 6;
  plan.microbatches = 6;
  plan.stages[0].replicas = from;
  plan.stages[0].split = from_split;
  plan.stages[1].replicas = to;
  plan.stages[1].split = to_split;
  return plan;
}

TEST(Replicas, MeetWhereTheyShareSamplesOfAMicrobatchThatBothRun) {
  const auto pairs = [](const Plan& plan) {
    std::vector<std::pair<std::int32_t, std::int32_t>> out;
    for (const Meeting& m : meetings(plan, StageId(0), StageId(1))) out.emplace_back(m.from, m.to);
    return out;
  };
  using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
  // [0,2) [2,4) [4,6) against [0,3) [3,6).
  EXPECT_EQ(pairs(shared(3, Split::Batch, 2, Split::Batch)), (Pairs{{0, 0}, {1, 0}, {1, 1}, {2, 1}}));
  const std::vector<Meeting> some =
      meetings(shared(3, Split::Batch, 2, Split::Batch), StageId(0), StageId(1));
  EXPECT_EQ(some[1].samples, (SampleRange{2, 1}));
  EXPECT_FALSE(some[1].whole);
  EXPECT_TRUE(meetings(shared(2, Split::Batch, 2, Split::Batch), StageId(0), StageId(1))[1].whole);
  // Microbatch m on copies m mod 4 and m mod 2: 0 meets 0, never 1.
  EXPECT_EQ(pairs(shared(4, Split::RoundRobin, 2, Split::RoundRobin)),
            (Pairs{{0, 0}, {1, 1}, {2, 0}, {3, 1}}));
  EXPECT_EQ(pairs(shared(2, Split::RoundRobin, 3, Split::RoundRobin)).size(), 6u);
  EXPECT_EQ(pairs(shared(2, Split::RoundRobin, 2, Split::Batch)).size(), 4u);
}

TEST(Replicas, AreRefusedWhereThereAreMoreThanSamplesOrMicrobatches) {
  Plan plan = shared(7, Split::Batch, 1, Split::Batch);
  auto refused = validate_replicas(plan);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("7 replicas of stage 0 cannot share"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("round_robin"), std::string::npos);
  plan = shared(7, Split::RoundRobin, 1, Split::Batch);
  refused = validate_replicas(plan);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("take turns"), std::string::npos);
}

TEST(Replicas, NeedLayerTimesOfTheirPartAHopEachPairAndARing) {
  Plan plan = shared(2, Split::Batch, 1, Split::Batch);
  plan.stages[0].devices = {RankId(0), RankId(1)};
  auto refused = validate_replicas(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.pointer, "/stages/0/reduce_bandwidth_bytes_per_s");
  plan.stages[0].reduce_bandwidth = BytesPerSecond(1e9);
  refused = validate_replicas(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.pointer, "/part_times");
  plan.part_times = {{3, std::vector<StageTimes>(8)}};
  refused = validate_replicas(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.pointer, "/edges/0/hops");
  for (std::int32_t copy = 0; copy < 2; ++copy)
    plan.edges[0].hops.push_back(
        {copy, 0, Nanoseconds(5), Nanoseconds(5), BytesPerSecond(1e9), BytesPerSecond(1e9)});
  const auto valid = validate_replicas(plan);
  EXPECT_TRUE(valid) << valid.error().text();
  // Latencies that nobody has are not written.
  plan.stages[1].reduce_latency = Nanoseconds(1);
  EXPECT_FALSE(validate_replicas(plan));
  plan.stages[1].reduce_latency = Nanoseconds(0);
  plan.gather_latency = Nanoseconds(1);
  EXPECT_FALSE(validate_replicas(plan));
  plan.gather_latency = Nanoseconds(0);
  plan.edges[0].hops[1].bandwidth = BytesPerSecond(0);
  EXPECT_FALSE(validate_replicas(plan));
}

}  // namespace
}  // namespace penstock
