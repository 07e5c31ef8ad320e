#pragma once

// Whether an order's times can be added up: sums of nanoseconds must stay far from the end of 64 bits.

#include "core/order.h"
#include "core/result.h"

namespace penstock {

// Whether all operations and their messages, one after the other, take no longer than kLongestRun:
// mostly seen from the longest of each alone, without allocating. O(stages + edges), at worst
// O(operations).
bool is_bounded(const Order& order, const OrderCosts& costs);

// Infeasible if a program of so many steps, one instruction after the other, takes longer (in ns).
Result<void> expect_bounded(double length, std::int32_t steps);

}  // namespace penstock
