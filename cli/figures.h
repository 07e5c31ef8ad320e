#pragma once

// Figures that several verbs print, each as docs/metrics.md defines it.

#include <cstdint>
#include <vector>

#include "core/answer.h"
#include "core/order.h"
#include "core/timeline.h"
#include "traces/analysis/step_use.h"

namespace penstock::cli {

struct Idleness {
  double bubble_fraction = 0;  // idle time of all ranks / wall time of all ranks
  double idle_over_busy = 0;   // 0 where nothing was busy
};
Idleness idleness(const std::vector<RankUse>& use);
Idleness idleness(const std::vector<Nanoseconds>& busy, Nanoseconds makespan);

// Times in a unit of the user's own (bare numbers) are kept as seconds, but must not be called so;
// and whole numbers stay whole: "33", not "33.0".
Unit unit_of_time(bool own_unit);
Value in_unit(double time, bool own_unit);

// The table "devices": busy and idle time in the median step (which add up to the iteration time), and peaks; unknown where the timeline has none.
void add_devices(Answer& answer, const Timeline& timeline, bool own_unit = false);

// What no order of these operations on these ranks can beat: the work of the busiest rank, and the
// longest chain of operations and transfers each of which needs the one before it. O(operations).
Nanoseconds lower_bound(const Order& order, const OrderCosts& costs);

// Copies of the weights that each rank holds: its stages of both directions, over `chunks`.
std::vector<std::int32_t> weight_copies(const Order& order, std::int32_t chunks);

// A full backward takes both gradients' time.
Nanoseconds duration(const OrderOp& op, const OrderCosts& costs);

}  // namespace penstock::cli
