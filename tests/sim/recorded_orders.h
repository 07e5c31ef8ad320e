#pragma once

// Orders and their times as public schedule generators, and a small evaluator written beside them,
// recorded them (schedules/ of the recorded data).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/order.h"

namespace penstock::test {

struct RecordedOrder {
  std::string source;  // "torch"
  std::optional<Order>
      order;  // nothing if its stages lie in more than two ways: Order has two directions
};
std::map<std::string, RecordedOrder> recorded_orders();  // by order_id

struct RecordedTimes {
  std::string order_id;
  std::int64_t forward = 0, backward_input = 0, backward_weight = 0, transfer = 0;
  std::int64_t makespan = 0, span = 0, ideal = 0;
  double bubble_fraction = 0;              // to six digits
  std::vector<std::int64_t> starts, ends;  // of each rank
};
// Only those where a fused pair lasts the sum of its parts.
std::vector<RecordedTimes> recorded_times();

}  // namespace penstock::test
