#pragma once

// Random stage graphs, placements, orders that can run, and costs of them.

#include "core/order.h"
#include "tests/planner/random_workloads.h"

namespace penstock::test {

// Up to 6 stages in a random graph on up to 4 ranks, several of them on one rank where there are
// more stages than ranks; up to 5 microbatches of up to 2 slices; full backwards, or input and
// weight gradients apart; both directions at times. The lists are those of a run in which the next
// operation was drawn among all that could start; STEPs close them.
Order random_order(Draws& draws);

OrderCosts random_order_costs(Draws& draws, const Order& order, std::int64_t most);

}  // namespace penstock::test
