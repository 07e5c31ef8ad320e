#include "cli/figures.h"

#include <gtest/gtest.h>

#include "planner/schedules/schedule.h"

namespace penstock::cli {
namespace {

Order order_of(const char* name, std::int32_t stages, std::int32_t microbatches) {
  return *emit(*find_schedule(name)->schedule,
               {.stages = stages, .microbatches = microbatches, .parameters = {}});
}

TEST(LowerBound, IsTheWorkWhereMicrobatchesAreMany) {
  const Order order = order_of("1f1b", 4, 8);
  EXPECT_EQ(lower_bound(order, OrderCosts::uniform(order, Nanoseconds(2), Nanoseconds(3),
                                                   Nanoseconds(4), Nanoseconds(0))),
            Nanoseconds(8 * 9));
}

// One microbatch passes through all stages and back: p·(F + B + W) + 2·(p - 1)·C with full
// backwards.
TEST(LowerBound, IsTheChainWhereMicrobatchesAreFew) {
  const Order order = order_of("1f1b", 4, 1);
  EXPECT_EQ(lower_bound(order, OrderCosts::uniform(order, Nanoseconds(2), Nanoseconds(3),
                                                   Nanoseconds(4), Nanoseconds(5))),
            Nanoseconds(4 * 9 + 2 * 3 * 5));
}

// With split backwards the gradient goes on before the weight gradient: 2 stages, F F B B and one W
// after the last B.
TEST(LowerBound, LetsGradientsGoOnBeforeWeightGradients) {
  Order order = chain_order(2, 1);
  order.ops = {{.op = Op::F, .stage = 0}, {.op = Op::B, .stage = 0}, {.op = Op::W, .stage = 0},
               {.op = Op::F, .stage = 1}, {.op = Op::B, .stage = 1}, {.op = Op::W, .stage = 1}};
  order.first = {0, 3, 6};
  EXPECT_EQ(lower_bound(order, OrderCosts::uniform(order, Nanoseconds(2), Nanoseconds(3),
                                                   Nanoseconds(4), Nanoseconds(0))),
            Nanoseconds(2 * 2 + 2 * 3 + 4));
}

TEST(WeightCopies, AreOneForSchedulesOfOneDirection) {
  EXPECT_EQ(weight_copies(order_of("gpipe", 3, 2), 1), (std::vector<std::int32_t>{1, 1, 1}));
  Order twice = chain_order(2, 1);
  twice.rank_of = {0, 1, 1, 0};  // a mirrored copy
  EXPECT_EQ(weight_copies(twice, 1), (std::vector<std::int32_t>{2, 2}));
}

TEST(Idleness, CountsAllRanks) {
  const Idleness idle = idleness({Nanoseconds(6), Nanoseconds(2)}, Nanoseconds(8));
  EXPECT_DOUBLE_EQ(idle.bubble_fraction, 8.0 / 16);
  EXPECT_DOUBLE_EQ(idle.idle_over_busy, 8.0 / 8);
  EXPECT_DOUBLE_EQ(idleness(std::vector<Nanoseconds>{}, Nanoseconds(0)).bubble_fraction, 0);
}

TEST(Devices, TimesAreOfOneStepAndUnknownPeaksAreNull) {
  Timeline timeline;
  timeline.ranks = 1;
  timeline.tracks = {{.rank = RankId(0), .lane = "compute"}};
  for (std::int32_t step = 0; step < 2; ++step) {
    timeline.spans.push_back({.track = 0,
                              .step = step,
                              .start = Nanoseconds(step * 1000),
                              .end = Nanoseconds(step * 1000 + 400),
                              .key = {.op = Op::F}});
    timeline.spans.push_back({.track = 0,
                              .step = step,
                              .start = Nanoseconds(step * 1000 + 900),
                              .end = Nanoseconds(step * 1000 + 1000),
                              .key = {.op = Op::Recv}});
  }
  Answer answer("penstock.test/1");
  add_devices(answer, timeline);
  const std::vector<Value>& row = answer.tables.at(0).rows.at(0);
  EXPECT_DOUBLE_EQ(row[1].real(), 400e-9);
  EXPECT_DOUBLE_EQ(row[2].real(), 600e-9);
  EXPECT_TRUE(row[3].is_null());
}

}  // namespace
}  // namespace penstock::cli
