#pragma once

// What a schedule emits: for each rank the compute operations in the order it runs them, and nothing else. 8 bytes an
// operation, so that a search can evaluate thousands of orders. penstock::lower turns an Order into a Program.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/op.h"
#include "core/units.h"

namespace penstock {

struct OrderOp {
  Op op = Op::F;              // F, BF, B, W, R or STEP
  std::uint8_t slice = 0;
  std::uint16_t stage = 0;
  std::uint32_t microbatch : 30 = 0;
  std::uint32_t direction : 1 = 0;  // 1: the mirrored copy of a bidirectional schedule
  std::uint32_t fused : 1 = 0;      // co-scheduled with the operation after it

  bool operator==(const OrderOp&) const = default;
};
static_assert(sizeof(OrderOp) == 8);

// Activations flow from stage `from` to stage `to`, gradients the other way.
struct StageEdge {
  StageId from;
  StageId to;
  bool operator==(const StageEdge&) const = default;
};

struct Order {
  std::int32_t ranks = 0;
  std::int32_t stages = 0;
  std::int32_t microbatches = 0;
  std::int32_t slices = 1;
  std::vector<std::int32_t> rank_of;  // [direction][stage] -> rank: one or two times `stages` entries
  std::vector<StageEdge> edges;       // of the stage graph; a chain has stages - 1
  std::vector<std::size_t> first;     // ranks + 1 offsets into ops
  std::vector<OrderOp> ops;

  std::span<const OrderOp> of(RankId rank) const {
    return std::span(ops).subspan(first[rank.index()], first[rank.index() + 1] - first[rank.index()]);
  }
  RankId rank(StageId stage, int direction = 0) const {
    return RankId(rank_of[static_cast<std::size_t>(direction) * static_cast<std::size_t>(stages) + stage.index()]);
  }
  bool operator==(const Order&) const = default;
};

// An order of `stages` stages in a chain, stage s on rank s, with empty lists: the start of most schedules.
Order chain_order(std::int32_t stages, std::int32_t microbatches);

// Durations by stage, and by stage edge what a transfer between different ranks takes. A full backward costs B + W.
struct OrderCosts {
  std::vector<Nanoseconds> forward, backward_input, backward_weight, recompute, step;  // one a stage
  std::vector<Nanoseconds> activation, gradient;                                       // one an Order::edges entry

  static OrderCosts uniform(const Order& order, Nanoseconds f, Nanoseconds b, Nanoseconds w, Nanoseconds transfer);
};

// Stage activations resident on each rank, in stage-microbatch-slices: +1 at F, -1 at the end of W or BF.
struct PeakActivations {
  std::vector<std::int32_t> until_weight;   // kept until the weight gradient: W or BF
  std::vector<std::int32_t> until_input;    // kept until the input gradient: B or BF
};
PeakActivations peak_activations(const Order& order);

// "0F3": stage, operation, microbatch, as public generators print orders (full backward B, input gradient I, weight W).
std::string token(const OrderOp& op);
// "F 0.3": the text form of instructions (docs/formats/program.md).
std::string text(const OrderOp& op);

}  // namespace penstock
