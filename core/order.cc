#include "core/order.h"

#include <algorithm>

#include <fmt/format.h>

namespace penstock {

Order chain_order(std::int32_t stages, std::int32_t microbatches) {
  Order order;
  order.ranks = stages;
  order.stages = stages;
  order.microbatches = microbatches;
  order.rank_of.reserve(static_cast<std::size_t>(stages));
  for (std::int32_t s = 0; s < stages; ++s) {
    order.rank_of.push_back(s);
    if (s > 0) order.edges.push_back({StageId(s - 1), StageId(s)});
  }
  order.first.assign(static_cast<std::size_t>(stages) + 1, 0);
  return order;
}

OrderCosts OrderCosts::uniform(const Order& order, Nanoseconds f, Nanoseconds b, Nanoseconds w,
                               Nanoseconds transfer) {
  const auto stages = static_cast<std::size_t>(order.stages);
  OrderCosts costs;
  costs.forward.assign(stages, f);
  costs.backward_input.assign(stages, b);
  costs.backward_weight.assign(stages, w);
  costs.recompute.assign(stages, f);
  costs.step.assign(stages, Nanoseconds(0));
  costs.activation.assign(order.edges.size(), transfer);
  costs.gradient.assign(order.edges.size(), transfer);
  return costs;
}

PeakActivations peak_activations(const Order& order) {
  PeakActivations peaks;
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) {
    std::int32_t weight = 0, input = 0, weight_peak = 0, input_peak = 0;
    for (const OrderOp& op : order.of(RankId(rank))) {
      if (op.op == Op::F) ++weight, ++input;
      weight_peak = std::max(weight_peak, weight);
      input_peak = std::max(input_peak, input);
      if (op.op == Op::BF || op.op == Op::W) --weight;
      if (is_backward(op.op)) --input;
    }
    peaks.until_weight.push_back(weight_peak);
    peaks.until_input.push_back(input_peak);
  }
  return peaks;
}

std::string token(const OrderOp& op) {
  // Public generators write the full backward B and the input gradient I.
  const std::string_view letters = op.op == Op::BF ? "B" : op.op == Op::B ? "I" : name(op.op);
  return fmt::format("{}{}{}", op.stage, letters, static_cast<std::uint32_t>(op.microbatch));
}

std::string text(const OrderOp& op) {
  if (op.op == Op::Step) return fmt::format("STEP {}", op.stage);
  std::string out =
      fmt::format("{} {}.{}", name(op.op), op.stage, static_cast<std::uint32_t>(op.microbatch));
  if (op.slice != 0) out += fmt::format(".{}", op.slice);
  if (op.direction != 0) out += "@1";
  return out;
}

}  // namespace penstock
