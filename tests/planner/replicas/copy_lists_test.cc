#include "planner/copy_lists.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Plan plan_of(const std::vector<std::int32_t>& replicas, Split split, std::int64_t microbatches,
             const std::string& schedule) {
  Plan plan;
  plan.schedule.name = schedule;
  plan.microbatches = microbatches;
  plan.microbatch_size = 4;
  for (const std::int32_t count : replicas) {
    PlanStage& stage = plan.stages.emplace_back();
    stage.replicas = count;
    stage.split = split;
    for (std::int32_t r = 0; r < count; ++r) {
      stage.devices.push_back(RankId(static_cast<std::int64_t>(plan.devices.size())));
      plan.devices.emplace_back();
    }
  }
  return plan;
}

std::string drawn(const CopyList& list) {
  std::string out;
  for (const OrderOp& op : list.ops)
    out += (out.empty() ? "" : " ") + std::string(op.op == Op::F ? "F" : "B") +
           std::to_string(op.microbatch);
  return out;
}

TEST(CopyLists, ReplicasThatTakeTurnsWarmUpWithAsManyAsAreBehindThem) {
  auto lists = *copy_lists(plan_of({2, 1}, Split::RoundRobin, 4, "1f1b"));
  EXPECT_EQ(drawn(lists[0]), "F0 F2 B0 B2");  // ⌈3/2⌉ = 2
  EXPECT_EQ(drawn(lists[1]), "F1 F3 B1 B3");
  EXPECT_EQ(drawn(lists[2]), "F0 B0 F1 B1 F2 B2 F3 B3");
  lists = *copy_lists(plan_of({1, 2}, Split::RoundRobin, 5, "1f1b"));
  EXPECT_EQ(drawn(lists[0]), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");  // 3
  EXPECT_EQ(drawn(lists[1]), "F0 B0 F2 B2 F4 B4");
  EXPECT_EQ(drawn(lists[2]), "F1 B1 F3 B3");
  // PipeDream's NOAM of an input stage: 15-1 → 2, 9-5-1-1 → 2, 2-1-1 → 2.
  for (const auto& replicas : std::vector<std::vector<std::int32_t>>{{15, 1}, {9, 5, 1, 1}, {2, 1, 1}}) {
    lists = *copy_lists(plan_of(replicas, Split::RoundRobin, 60, "1f1b"));
    EXPECT_EQ(lists[0].ops[1].op, Op::F);
    EXPECT_EQ(lists[0].ops[2].op, Op::BF);
  }
}

TEST(CopyLists, WithoutReplicasTurnsAreTheScheduleItself) {
  for (std::int32_t p = 1; p <= 4; ++p)
    for (std::int64_t m = 1; m <= 6; ++m) {
      std::vector<std::int32_t> ones(static_cast<std::size_t>(p), 1);
      const auto plain = *copy_lists(plan_of(ones, Split::Batch, m, "1f1b"));
      ones[0] = 2;  // the others then run by the rule of turns
      const auto turns = *copy_lists(plan_of(ones, Split::RoundRobin, m, "1f1b"));
      for (std::int32_t s = 1; s < p; ++s)
        EXPECT_EQ(drawn(turns[static_cast<std::size_t>(s) + 1]), drawn(plain[static_cast<std::size_t>(s)]));
    }
}

TEST(CopyLists, ReplicasThatShareMicrobatchesAllRunTheScheduleOfTheirStage) {
  const auto lists = *copy_lists(plan_of({3, 2}, Split::Batch, 4, "gpipe"));
  for (const CopyList& list : lists) EXPECT_EQ(drawn(list), "F0 F1 F2 F3 B0 B1 B2 B3");
  EXPECT_EQ(lists[4].stage, StageId(1));
  EXPECT_EQ(lists[4].copy, 1);
}

}  // namespace
}  // namespace penstock
