#pragma once

// Division of a list of layers into contiguous stages, each on one or more of a row of identical devices, that minimises the
// longest stage (Narayanan et al., "PipeDream", SOSP 2019, section 3.1; Fan et al., "DAPPLE", PPoPP 2021, section 4): the
// dynamic program over (layers left, devices left). Stage s takes the next R_s devices.
//
//   time of a stage, of a step of m microbatches
//     batch         m·(t(part) + waits) + update + exposed          round_robin   ⌈m/R⌉·(t + waits) + update + exposed
//     t             its load, forward, loss and backwards of what one replica takes of a microbatch
//     waits         one message of the activations that come in and one of the gradients that come back, of that part
//     exposed       of the all-reduce of its gradients around a ring, what its last backward does not hide
//
// The least bottleneck; of those divisions the one with the shortest first stages and fewest replicas first. It is where a
// search begins: what it finds is lowered and simulated. O(n² · devices · options) time, O(n · devices) memory.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan.h"
#include "models/costs/cost_table.h"
#include "planner/partition/stage_figures.h"

namespace penstock {

struct ReplicaProblem {
  const Workload* workload = nullptr;
  std::int32_t devices = 1;
  Split split = Split::Batch;
  std::int64_t microbatches = 1;
  // [d]: how many replicas a stage may have whose first device is d; nothing: no stage begins there.
  std::vector<std::vector<std::int32_t>> options;
  // [R]: costs at what one of R replicas takes of a microbatch; null: unknown, R is no option.
  std::vector<const CostTable*> costs;
  std::vector<Hop> from_previous;  // [d]: between devices d - 1 and d, the slower way
  std::vector<Bytes> limits;       // [d]
  std::int64_t kept = 1;           // microbatches that a rank is taken to keep
  bool all_devices = false;        // none may be left over
};

struct ReplicaDivision {
  std::vector<std::int32_t> ends;      // as in Division
  std::vector<std::int32_t> replicas;  // one a stage
  Nanoseconds bottleneck;
};

// The best division, or nothing if none fits.
std::optional<ReplicaDivision> divide_over_replicas(const ReplicaProblem& problem);

}  // namespace penstock
