// Replays what public schedule generators recorded: each order, under each set of costs, to the
// integer.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "sim/evaluate.h"
#include "tests/sim/recorded_orders.h"
#include "tests/support/recorded_data.h"

namespace penstock::test {
namespace {

std::vector<std::int64_t> values(const std::vector<Nanoseconds>& times) {
  std::vector<std::int64_t> out;
  for (const Nanoseconds time : times) out.push_back(time.value);
  return out;
}

TEST(EvaluateRecorded, ReplaysEveryRecordedOrderExactly) {
  PENSTOCK_NEEDS_DATA("schedules/orders.csv.gz");
  PENSTOCK_NEEDS_DATA("schedules/results.csv");
  const std::map<std::string, RecordedOrder> orders = recorded_orders();
  std::map<std::string, int> replayed;
  int left_out = 0;
  Evaluator evaluator;
  for (const RecordedTimes& row : recorded_times()) {
    const RecordedOrder& recorded = orders.at(row.order_id);
    if (!recorded.order) {
      ++left_out;
      continue;
    }
    const OrderCosts costs = OrderCosts::uniform(
        *recorded.order, Nanoseconds(row.forward), Nanoseconds(row.backward_input),
        Nanoseconds(row.backward_weight), Nanoseconds(row.transfer));
    const auto evaluation = evaluator.evaluate(*recorded.order, costs, Discipline::Eager);
    ASSERT_TRUE(evaluation.has_value()) << row.order_id << ": " << evaluation.error().text();
    const Evaluation& got = **evaluation;
    ASSERT_EQ(got.makespan.value, row.makespan) << row.order_id;
    ASSERT_EQ(got.span.value, row.span) << row.order_id;
    ASSERT_EQ(std::max_element(got.busy.begin(), got.busy.end())->value, row.ideal) << row.order_id;
    ASSERT_NEAR(got.bubble_fraction(), row.bubble_fraction, 1e-6) << row.order_id;
    ASSERT_EQ(values(got.first_start), row.starts) << row.order_id;
    ASSERT_EQ(values(got.last_end), row.ends) << row.order_id;
    ++replayed[recorded.source];
  }
  EXPECT_EQ(replayed, (std::map<std::string, int>{{"bitpipe", 136},
                                                  {"chimera", 112},
                                                  {"deepseek", 256},
                                                  {"megatron", 2160},
                                                  {"sail", 3244},
                                                  {"torch", 2368}}));
  EXPECT_EQ(left_out, 64) << "Chimera with four pipelines, each placed in its own way";
}

}  // namespace
}  // namespace penstock::test
