#include "exec/step_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace penstock {
namespace {

// What a rank does with a gate, without any work.
std::int32_t run_rank(StepGate& gate, std::int32_t repetitions) {
  for (std::int32_t k = 0; k < repetitions; ++k) {
    if (gate.meets_before(k)) {
      const auto on = gate.meet(k);
      if (!on || !*on) return k;
    }
    if (!gate.enter(k)) return k;
  }
  return repetitions;
}

TEST(StepGate, WithoutMeetingsItLetsAllRepetitionsThrough) {
  StepGate gate(5);
  EXPECT_EQ(run_rank(gate, 5), 5);
  EXPECT_FALSE(gate.enter(5));
}

TEST(StepGate, OnceClosedARankFinishesWhatAnotherHasStarted) {
  StepGate gate(9);
  EXPECT_TRUE(gate.enter(0));
  EXPECT_TRUE(gate.enter(1));
  gate.close();
  EXPECT_TRUE(gate.enter(0));  // another rank, behind
  EXPECT_TRUE(gate.enter(1));
  EXPECT_FALSE(gate.enter(2));
  EXPECT_EQ(gate.repetitions(), 2);
}

TEST(StepGate, RanksMeetOnceBeforeEachOfTheNamedRepetitions) {
  constexpr std::int32_t kRanks = 4;
  std::vector<std::int32_t> attended;  // by one rank at a time, while all wait
  StepGate gate(10, {.ranks = kRanks, .before = [](std::int32_t k) { return k % 3 == 0; },
                     .attend = [&](std::int32_t k) -> Result<void> { attended.push_back(k); return {}; }});
  std::vector<std::thread> ranks;
  std::atomic<std::int32_t> through = 0;
  for (std::int32_t r = 0; r < kRanks; ++r) ranks.emplace_back([&] { through += run_rank(gate, 10); });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(attended, (std::vector<std::int32_t>{0, 3, 6, 9}));
  EXPECT_EQ(through, 40);
}

TEST(StepGate, AFailedMeetingEndsTheRunForAll) {
  StepGate gate(10, {.ranks = 3, .before = [](std::int32_t k) { return k == 4; },
                     .attend = [](std::int32_t) -> Result<void> { return fail(ErrorCode::RunFailed, "no room"); }});
  std::vector<std::thread> ranks;
  std::atomic<std::int32_t> ended_at_four = 0;
  for (int r = 0; r < 3; ++r) ranks.emplace_back([&] { ended_at_four += run_rank(gate, 10) == 4; });
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(ended_at_four, 3);
}

TEST(StepGate, WhoWaitsLeavesWhenTheGateClosesOrAnotherRankFails) {
  for (const bool closes : {true, false}) {
    StepGate gate(10, {.ranks = 2, .before = [](std::int32_t k) { return k == 1; }, .attend = {}});
    std::atomic<bool> inside = false;
    std::thread rank([&] {
      EXPECT_TRUE(gate.enter(0));
      inside = true;
      const auto on = gate.meet(1);
      EXPECT_TRUE(on.has_value());
      EXPECT_FALSE(on && *on);
    });
    while (!inside) std::this_thread::yield();
    closes ? gate.close() : gate.abandon();
    rank.join();
    const auto late = gate.meet(1);
    EXPECT_FALSE(late && *late);
  }
}

}  // namespace
}  // namespace penstock
