#pragma once

// sim/evaluate once more, as slowly and plainly as its definition reads: every rank is tried again
// and again, and what an operation needs is looked up by name.

#include <optional>
#include <vector>

#include "core/order.h"
#include "core/transfer.h"

namespace penstock::test {

struct ReferenceTimes {
  std::vector<Nanoseconds> starts, ends;  // one an operation of Order::ops
};

// Nothing if the order deadlocks.
std::optional<ReferenceTimes> reference_times(const Order& order, const OrderCosts& costs,
                                              Discipline discipline);

}  // namespace penstock::test
