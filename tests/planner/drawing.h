#pragma once

// An order drawn as in the comments of planner/schedules: a column a time unit, digits for
// forwards, letters for backwards.

#include <string>
#include <vector>

#include "core/order.h"

namespace penstock::test {

// One line a rank; F one column, BF two, transfers free.
std::vector<std::string> draw(const Order& order);

// The list of a rank as tokens, "0F0 0F1 0B0".
std::string tokens(const Order& order, RankId rank);

}  // namespace penstock::test
