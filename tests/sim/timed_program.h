#pragma once

// Orders, and programs made from them by hand, for the tests of sim/: with times, without memory.

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/order.h"
#include "core/program.h"

namespace penstock::test {

OrderOp order_op(Op op, std::int32_t stage, std::int32_t microbatch, std::int32_t slice = 0,
                 bool is_fused = false);

// A chain of one stage a rank, with these lists.
Order chain_of(std::int32_t microbatches, std::initializer_list<std::vector<OrderOp>> lists);
Order one_f_one_b(std::int32_t stages, std::int32_t microbatches);
Order gpipe(std::int32_t stages, std::int32_t microbatches);
Order zero_bubble_h1(std::int32_t stages, std::int32_t microbatches);  // microbatches >= stages

// Receives by edge before each operation in stream 0; a stream of SENDs for each edge that leaves
// the rank; a WAIT for the last SEND of each at the end. No fused operations.
Program timed_program(const Order& order, const OrderCosts& costs);

// Parts of programs made by hand. The edge goes between the ranks of those numbers.
Recipe recipe_of(Nanoseconds length, SegmentKind kind = SegmentKind::Compute);
ProgramEdge edge_between(std::int32_t from, std::int32_t to);
Stream stream_of(std::vector<Instruction> body, EdgeId edge = EdgeId());

}  // namespace penstock::test
