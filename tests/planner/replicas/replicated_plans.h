#pragma once

// Plans with replicas for the planner's tests.

#include <cstdint>

#include "core/plan.h"

namespace penstock::test {

// Of a random network on a random cluster, divided at random, with random replicas of its stages; validates. A function of
// the seed. Several buckets a stage, or one.
Plan random_replicated_plan(std::uint64_t seed);

}  // namespace penstock::test
