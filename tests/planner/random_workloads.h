#pragma once

// Random networks, costs and clusters for the planner's tests. Everything is a function of the
// seed.

#include <cstdint>

#include "core/cluster.h"
#include "core/random.h"
#include "core/workload.h"
#include "models/costs/cost_table.h"

namespace penstock::test {

// Draws from one seed, in order.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next() { return combine(seed_, count_++); }
  std::int64_t between(std::int64_t least, std::int64_t most) {  // inclusive
    return least + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(double probability) { return uniform(next()) < probability; }

 private:
  std::uint64_t seed_, count_ = 0;
};

// A valid network of about `layers` layers between its embedding and its loss: linear, gelu, norm,
// attention and additions that read far back, over widths that vary.
Workload random_workload(Draws& draws, std::int64_t layers, std::int64_t batch);

// Costs of up to `most` nanoseconds for each pass of each layer.
CostTable random_costs(Draws& draws, const Workload& workload, std::int64_t microbatch,
                       std::int64_t most);

// `devices` equal devices, each pair joined by one link of its own latency and bandwidth if
// `uneven`, else by one switch.
Cluster random_cluster(Draws& draws, std::int64_t devices, Bytes memory, bool uneven);

}  // namespace penstock::test
