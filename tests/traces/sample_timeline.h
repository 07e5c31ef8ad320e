#pragma once

#include "core/timeline.h"

namespace penstock::test {

// Two ranks, two microbatches, 1F1B: forwards of 10 µs, backwards of 20 µs, an update of 5 µs, a message of 2 µs that rank 1
// receives before each forward, in `steps` equal steps. Times are multiplied by `factor`.
Timeline sample_timeline(std::int32_t steps = 1, double factor = 1);

}  // namespace penstock::test
