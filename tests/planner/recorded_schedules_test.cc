// Our orders against those that public generators recorded: the same lists, token by token, and the
// same figures.

#include "tests/planner/recorded_schedules.h"

#include <gtest/gtest.h>

#include <map>

#include "planner/schedules/schedule.h"
#include "sim/evaluate.h"
#include "tests/support/recorded_data.h"

namespace penstock::test {
namespace {

// By the generators' names: what we call their schedule.
const std::map<std::pair<std::string, std::string>, std::string> kOurs = {
    {{"torch", "GPipe"}, "gpipe"},
    {{"torch", "1F1B_step"}, "1f1b"},
    {{"sail", "basic1f1b"}, "1f1b"}};

Order order_of(const std::string& name, std::int32_t stages, std::int32_t microbatches) {
  const auto chosen = find_schedule(name);
  EXPECT_TRUE(chosen.has_value()) << name;
  Shape shape;
  shape.stages = stages;
  shape.microbatches = microbatches;
  auto order = emit(*chosen->schedule, shape);
  EXPECT_TRUE(order.has_value()) << name;
  return *std::move(order);
}

void expect_figures(const RecordedFigures& row, const std::string& name) {
  const Order order = order_of(name, row.stages, row.microbatches);
  const OrderCosts costs =
      OrderCosts::uniform(order, Nanoseconds(row.forward), Nanoseconds(row.backward_input),
                          Nanoseconds(row.backward_weight), Nanoseconds(row.transfer));
  Evaluator evaluator;
  const auto evaluation = evaluator.evaluate(order, costs, Discipline::Eager);
  ASSERT_TRUE(evaluation.has_value()) << evaluation.error().text();
  const PeakActivations peaks = peak_activations(order);
  EXPECT_EQ((*evaluation)->makespan.value, row.makespan)
      << name << " " << row.stages << "x" << row.microbatches;
  EXPECT_EQ((*evaluation)->span.value, row.span)
      << name << " " << row.stages << "x" << row.microbatches;
  EXPECT_EQ(peaks.until_weight, row.until_weight)
      << name << " " << row.stages << "x" << row.microbatches;
  EXPECT_EQ(peaks.until_input, row.until_input)
      << name << " " << row.stages << "x" << row.microbatches;
}

TEST(RecordedSchedules, OrdersAreRegeneratedTokenByToken) {
  PENSTOCK_NEEDS_DATA("schedules/orders.csv.gz");
  std::map<std::string, int> compared;
  for (const RecordedList& list : recorded_lists()) {
    const auto ours = kOurs.find({list.source, list.schedule});
    if (ours == kOurs.end()) continue;
    const Order order = order_of(ours->second, list.stages, list.microbatches);
    std::vector<std::string> tokens;
    for (const OrderOp& op : order.of(RankId(list.rank))) tokens.push_back(token(op));
    ASSERT_EQ(tokens, list.tokens) << list.source << " " << list.schedule << " " << list.stages
                                   << "x" << list.microbatches << " rank " << list.rank;
    ++compared[list.source + " " + list.schedule];
  }
  for (const auto& [names, ours] : kOurs)
    EXPECT_EQ(compared[names.first + " " + names.second], 169) << names.second;
}

TEST(RecordedSchedules, MakespansSpansAndPeaksAreTheRecordedOnes) {
  PENSTOCK_NEEDS_DATA("schedules/results.csv");
  std::map<std::string, int> compared;
  for (const RecordedFigures& row : recorded_figures()) {
    const auto ours = kOurs.find({row.source, row.schedule});
    if (ours == kOurs.end()) continue;
    expect_figures(row, ours->second);
    ++compared[row.source + " " + row.schedule];
  }
  for (const auto& [names, ours] : kOurs)
    EXPECT_EQ(compared[names.first + " " + names.second], 208) << names.second;
}

TEST(GoldenSchedules, MakespansSpansAndPeaksAreThoseOfTheTable) {
  const std::vector<RecordedFigures> rows = golden_figures();
  ASSERT_EQ(rows.size(), 416u);
  for (const RecordedFigures& row : rows) expect_figures(row, row.schedule);
}

}  // namespace
}  // namespace penstock::test
