#pragma once

// Orders of any shape, by seed: stage graphs with forks and joins, any placement, one or two
// directions, slices, split and full backwards, recomputation, updates, fused operations.

#include <cstdint>
#include <random>

#include "core/order.h"

namespace penstock::test {

enum class Lists {
  Sound,     // the lists are cuts of one common order of all operations, so none waits for ever
  Shuffled,  // some operations of a list have changed places, so it may deadlock
};

// `any_shape` false: what a Program can be lowered from, so no fused operations, and each edge's
// messages in one order.
Order random_order(std::mt19937_64& random, Lists lists, bool any_shape = true);
OrderCosts random_costs(std::mt19937_64& random, const Order& order);

}  // namespace penstock::test
