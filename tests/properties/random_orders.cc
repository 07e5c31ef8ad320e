#include "tests/properties/random_orders.h"

#include <algorithm>

#include "planner/lower.h"

namespace penstock::test {
namespace {

// Which operations have been run, to know which may come next.
class Run {
 public:
  Run(Draws& draws, const Order& order, const std::vector<std::uint8_t>& splits)
      : order_(order), splits_(splits) {
    done_.assign(order.rank_of.size() * cells() * kKinds, 0);
    before_.resize(2);
    for (std::vector<std::int32_t>& before : before_) before = predecessors(draws, order);
  }

  std::vector<OrderOp> ready() const {
    std::vector<OrderOp> out;
    for (std::int32_t stage = 0; stage < order_.stages; ++stage) {
      for (std::int32_t mb = 0; mb < order_.microbatches; ++mb) {
        for (std::int32_t slice = 0; slice < order_.slices; ++slice) {
          OrderOp op;
          op.stage = static_cast<std::uint16_t>(stage);
          op.microbatch = static_cast<std::uint32_t>(mb) & 0x3fffffffu;
          op.slice = static_cast<std::uint8_t>(slice);
          op.direction =
              order_.rank_of.size() > static_cast<std::size_t>(order_.stages) && mb % 2 != 0 ? 1u
                                                                                             : 0u;
          for (const Op kind :
               {Op::F, splits_[static_cast<std::size_t>(stage)] ? Op::B : Op::BF, Op::W}) {
            if (kind == Op::W && !splits_[static_cast<std::size_t>(stage)]) continue;
            op.op = kind;
            if (!done(op, kind) && may_start(op)) out.push_back(op);
          }
        }
      }
    }
    return out;
  }

  void run(const OrderOp& op) { done_[index(op, op.op)] = 1; }

 private:
  // Messages of an edge keep their order, so all stages take the microbatches of a direction in one
  // order, drawn here: [microbatch] the one before it, -1 for the first of its direction.
  static std::vector<std::int32_t> predecessors(Draws& draws, const Order& order) {
    std::vector<std::int32_t> sequence, before(static_cast<std::size_t>(order.microbatches), -1);
    for (std::int32_t mb = 0; mb < order.microbatches; ++mb)
      sequence.insert(sequence.begin() + draws.between(0, mb), mb);
    const bool both = order.rank_of.size() > static_cast<std::size_t>(order.stages);
    std::int32_t last[2] = {-1, -1};
    for (const std::int32_t mb : sequence) {
      std::int32_t& previous = last[both ? mb % 2 : 0];
      before[static_cast<std::size_t>(mb)] = previous;
      previous = mb;
    }
    return before;
  }

  static constexpr std::size_t kKinds = 3;  // forward, backward, weight gradient

  std::size_t cells() const {
    return static_cast<std::size_t>(order_.microbatches) * static_cast<std::size_t>(order_.slices);
  }
  std::size_t index(const OrderOp& op, Op kind) const {
    const std::size_t copy = op.direction * static_cast<std::size_t>(order_.stages) + op.stage;
    const std::size_t cell = op.microbatch * static_cast<std::size_t>(order_.slices) + op.slice;
    return (copy * cells() + cell) * kKinds + (kind == Op::F ? 0 : kind == Op::W ? 2 : 1);
  }
  bool done(const OrderOp& op, Op kind) const { return done_[index(op, kind)] != 0; }

  bool may_start(const OrderOp& op) const {
    OrderOp other = op;
    if (op.op == Op::W) return done(op, Op::B);
    const bool forward = op.op == Op::F;
    if (!forward && !done(op, Op::F)) return false;
    if (const std::int32_t mb = before_[forward ? 0 : 1][op.microbatch]; mb >= 0) {
      other.microbatch = static_cast<std::uint32_t>(mb) & 0x3fffffffu;
      for (std::int32_t slice = 0; slice < order_.slices; ++slice) {
        other.slice = static_cast<std::uint8_t>(slice);
        if (!done(other, op.op)) return false;
      }
      other = op;
    }
    const int before = op.slice + (forward ? -1 : 1);
    if (before >= 0 && before < order_.slices) {
      other.slice = static_cast<std::uint8_t>(before);
      if (!done(other, op.op)) return false;
      other.slice = op.slice;
    }
    for (const StageEdge& edge : order_.edges) {
      if ((forward ? edge.to : edge.from).value != op.stage) continue;
      other.stage = static_cast<std::uint16_t>((forward ? edge.from : edge.to).value);
      if (!done(other, op.op)) return false;
    }
    return true;
  }

  const Order& order_;
  const std::vector<std::uint8_t>& splits_;
  std::vector<std::uint8_t> done_;
  std::vector<std::vector<std::int32_t>> before_;  // of forwards, of backwards
};

}  // namespace

Order random_order(Draws& draws) {
  Order order;
  order.stages = static_cast<std::int32_t>(draws.between(1, 6));
  order.ranks = static_cast<std::int32_t>(draws.between(1, std::min(order.stages, 4)));
  order.microbatches = static_cast<std::int32_t>(draws.between(1, 5));
  order.slices = static_cast<std::int32_t>(draws.between(1, 2));
  const int directions = draws.chance(0.25) ? 2 : 1;
  for (int d = 0; d < directions; ++d)
    for (std::int32_t s = 0; s < order.stages; ++s)  // the first stages occupy every rank
      order.rank_of.push_back(s < order.ranks
                                  ? (d == 0 ? s : order.ranks - 1 - s)
                                  : static_cast<std::int32_t>(draws.between(0, order.ranks - 1)));
  for (std::int32_t to = 1; to < order.stages; ++to) {
    const std::int64_t sure = draws.between(0, to - 1);
    for (std::int32_t from = 0; from < to; ++from)
      if (from == sure || draws.chance(0.3)) order.edges.push_back({StageId(from), StageId(to)});
  }
  std::vector<std::uint8_t> splits;
  for (std::int32_t s = 0; s < order.stages; ++s) splits.push_back(draws.chance(0.4));

  std::vector<std::vector<OrderOp>> lists(static_cast<std::size_t>(order.ranks));
  Run run(draws, order, splits);
  for (std::vector<OrderOp> ready = run.ready(); !ready.empty(); ready = run.ready()) {
    const OrderOp next = ready[static_cast<std::size_t>(
        draws.between(0, static_cast<std::int64_t>(ready.size()) - 1))];
    run.run(next);
    lists[order.rank(StageId(next.stage), next.direction).index()].push_back(next);
  }
  order.first.push_back(0);
  for (const std::vector<OrderOp>& list : lists) {
    order.ops.insert(order.ops.end(), list.begin(), list.end());
    order.first.push_back(order.ops.size());
  }
  return with_steps(std::move(order));
}

OrderCosts random_order_costs(Draws& draws, const Order& order, std::int64_t most) {
  OrderCosts costs =
      OrderCosts::uniform(order, Nanoseconds(0), Nanoseconds(0), Nanoseconds(0), Nanoseconds(0));
  for (std::vector<Nanoseconds>* list :
       {&costs.forward, &costs.backward_input, &costs.backward_weight, &costs.recompute,
        &costs.step, &costs.activation, &costs.gradient})
    for (Nanoseconds& time : *list) time = Nanoseconds(draws.between(0, most));
  return costs;
}

}  // namespace penstock::test
