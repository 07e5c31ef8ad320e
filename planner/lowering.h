#pragma once

// The part of lowering that plans and bare schedules share. Not for use outside planner/: call
// penstock::lower.

#include <string>
#include <vector>

#include "core/order.h"
#include "core/plan.h"
#include "core/program.h"

namespace penstock {

// What an order does not say: what its stages and edges are made of.
struct LoweringParts {
  std::string name;
  NetworkId network{0};
  std::int64_t microbatch_size = 1;
  std::vector<StageTimes> times;  // one a stage
  std::vector<std::uint8_t> loads,
      computes_loss;                // flags, one a stage: LOAD before F, LOSS after it
  std::vector<StageMemory> memory;  // one a stage
  std::vector<PlanEdge> edges;      // the stage graph, one an Order::edges entry
  bool message_buffers = true;      // send and receive buffers; otherwise the stash is all there is
  std::vector<DeviceId> devices;    // one a rank
  std::vector<Bytes> limits;        // one a rank
};

// Program without first and last uses, offsets and arenas. O(operations).
Program lower_parts(const Order& order, LoweringParts parts);

}  // namespace penstock
