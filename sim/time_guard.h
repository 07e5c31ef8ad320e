#pragma once

// Whether an order's times can be added up: sums of nanoseconds must stay far from the end of 64 bits.

#include "core/order.h"

namespace penstock {

// Whether all operations and their messages, one after the other, take no longer than kLongestRun:
// mostly seen from the longest of each alone, without allocating. O(stages + edges), at worst
// O(operations).
bool is_bounded(const Order& order, const OrderCosts& costs);

}  // namespace penstock
