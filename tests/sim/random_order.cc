#include "tests/sim/random_order.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace penstock::test {
namespace {

std::int32_t below(std::mt19937_64& random, std::int32_t n) {
  return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
}

// What must have run before `op`, as positions in `all`.
bool comes_after(const Order& order, const OrderOp& op, const OrderOp& other) {
  if (op.microbatch != other.microbatch || op.direction != other.direction) return false;
  const bool same = op.stage == other.stage;
  const auto is_edge = [&](int from, int to) {
    return std::any_of(order.edges.begin(), order.edges.end(), [&](const StageEdge& e) {
      return e.from.value == from && e.to.value == to;
    });
  };
  const bool same_slice = op.slice == other.slice;
  if (op.op == Op::F)
    return other.op == Op::F &&
           ((same && other.slice < op.slice) || (same_slice && is_edge(other.stage, op.stage)));
  if (is_backward(op.op)) {
    if (other.op == Op::F || other.op == Op::R) return same && same_slice;
    return is_backward(other.op) &&
           ((same && other.slice > op.slice) || (same_slice && is_edge(op.stage, other.stage)));
  }
  if (op.op == Op::W) return is_backward(other.op) && same && same_slice;
  return op.op == Op::R && other.op == Op::F && same && same_slice;
}

}  // namespace

Order random_order(std::mt19937_64& random, Lists lists, bool any_shape) {
  Order order;
  order.stages = 1 + below(random, 6);
  order.ranks = 1 + below(random, order.stages);
  order.microbatches = 1 + below(random, 5);
  order.slices = below(random, 3) == 0 ? 1 + below(random, 3) : 1;
  const bool is_chain = below(random, 2) == 0;
  for (std::int32_t to = 1; to < order.stages; ++to) {
    for (std::int32_t from = 0; from < to; ++from) {
      if (is_chain ? from + 1 == to : below(random, 3) == 0)
        order.edges.push_back({StageId(from), StageId(to)});
    }
  }
  std::shuffle(order.edges.begin(), order.edges.end(), random);
  const std::int32_t directions = below(random, 3) == 0 ? 2 : 1;
  for (std::int32_t k = 0; k < directions * order.stages; ++k)
    order.rank_of.push_back(below(random, order.ranks));

  // All operations, then one that may go next again and again. For a program: the microbatches of a
  // stage in order.
  std::vector<OrderOp> left;
  for (std::int32_t i = 0; i < order.microbatches; ++i) {
    const std::uint32_t direction =
        directions == 2 ? static_cast<std::uint32_t>(below(random, 2)) : 0;
    for (std::int32_t s = 0; s < order.stages; ++s) {
      for (std::int32_t l = 0; l < order.slices; ++l) {
        const auto add = [&](Op op) {
          OrderOp made;
          made.op = op;
          made.stage = static_cast<std::uint16_t>(s);
          made.slice = static_cast<std::uint8_t>(l);
          made.microbatch = static_cast<std::uint32_t>(i) & 0x3fffffff;
          made.direction = direction & 1;
          left.push_back(made);
        };
        add(Op::F);
        if (below(random, 4) == 0) add(Op::R);
        if (below(random, 2) == 0) {
          add(Op::BF);
        } else {
          add(Op::B);
          add(Op::W);
        }
      }
    }
  }
  const auto in_order = [&](const OrderOp& op, const OrderOp& other) {
    const bool same_stream =
        (op.op == Op::F && other.op == Op::F) || (is_backward(op.op) && is_backward(other.op));
    return !any_shape && same_stream && op.stage == other.stage &&
           op.direction == other.direction && other.microbatch < op.microbatch;
  };
  std::vector<std::vector<OrderOp>> by_rank(static_cast<std::size_t>(order.ranks));
  while (!left.empty()) {
    const std::size_t k =
        static_cast<std::size_t>(below(random, static_cast<std::int32_t>(left.size())));
    const OrderOp op = left[k];
    if (std::any_of(left.begin(), left.end(), [&](const OrderOp& other) {
          return comes_after(order, op, other) || in_order(op, other);
        }))
      continue;
    by_rank[static_cast<std::size_t>(
                order.rank_of[op.direction * static_cast<std::size_t>(order.stages) + op.stage])]
        .push_back(op);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
  }
  order.first = {0};
  for (std::int32_t r = 0; r < order.ranks; ++r) {
    std::vector<OrderOp>& list = by_rank[static_cast<std::size_t>(r)];
    const std::int32_t size = static_cast<std::int32_t>(list.size());
    for (std::int32_t k = 0; any_shape && k + 1 < size; ++k)
      list[static_cast<std::size_t>(k)].fused = below(random, 12) == 0;
    for (std::int32_t k = 0; lists == Lists::Shuffled && size > 1 && k < 1 + below(random, 2);
         ++k) {
      const std::size_t at = static_cast<std::size_t>(below(random, size - 1));
      std::swap(list[at], list[at + 1]);
      list.back().fused = 0;
    }
    for (std::int32_t s = 0; s < order.stages; ++s) {
      if (order.rank_of[static_cast<std::size_t>(s)] != r || below(random, 2) == 0) continue;
      OrderOp step;
      step.op = Op::Step;
      step.stage = static_cast<std::uint16_t>(s);
      list.push_back(step);
    }
    order.ops.insert(order.ops.end(), list.begin(), list.end());
    order.first.push_back(order.ops.size());
  }
  return order;
}

OrderCosts random_costs(std::mt19937_64& random, const Order& order) {
  OrderCosts costs =
      OrderCosts::uniform(order, Nanoseconds(0), Nanoseconds(0), Nanoseconds(0), Nanoseconds(0));
  for (auto* times : {&costs.forward, &costs.backward_input, &costs.backward_weight,
                      &costs.recompute, &costs.step, &costs.activation, &costs.gradient}) {
    for (Nanoseconds& time : *times) time = Nanoseconds(below(random, 20));
  }
  return costs;
}

}  // namespace penstock::test
