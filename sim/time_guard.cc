#include "sim/time_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace penstock {

Result<void> expect_bounded(double length, std::int32_t steps) {
  if (length <= static_cast<double>(kLongestRun.value)) return {};
  return fail(ErrorCode::Infeasible,
              fmt::format("{} steps of this program may take {}", steps, long_time(length / 1e9)),
              fmt::format("at most {} are simulated: are its times right?",
                          long_time(seconds(kLongestRun))));
}

bool is_bounded(const Order& order, const OrderCosts& costs) {
  const auto ns = [](Nanoseconds t) { return static_cast<double>(t.value); };
  const auto backward_of = [&](std::size_t s) {
    return ns(costs.backward_input[s]) + ns(costs.backward_weight[s]) + ns(costs.recompute[s]) +
           ns(costs.step[s]);
  };
  const auto bound = static_cast<double>(kLongestRun.value);
  double operation = 0, messages = 0;
  for (std::size_t s = 0; s < costs.forward.size(); ++s)
    operation = std::max({operation, ns(costs.forward[s]), backward_of(s)});
  for (std::size_t e = 0; e < costs.activation.size(); ++e)
    messages += std::max(ns(costs.activation[e]), ns(costs.gradient[e]));
  if ((operation + messages) * static_cast<double>(order.ops.size()) <= bound) return true;

  std::vector<double> forward(costs.forward.size()), backward(costs.forward.size());
  for (std::size_t s = 0; s < forward.size(); ++s) {
    forward[s] = ns(costs.forward[s]);
    backward[s] = backward_of(s);
  }
  for (std::size_t e = 0; e < order.edges.size() && e < costs.activation.size(); ++e) {
    forward[order.edges[e].to.index()] += ns(costs.activation[e]);
    backward[order.edges[e].from.index()] += ns(costs.gradient[e]);
  }
  double sum = 0;
  for (const OrderOp& op : order.ops)
    sum += op.stage >= forward.size() ? 0 : (op.op == Op::F ? forward : backward)[op.stage];
  return sum <= bound;
}

}  // namespace penstock
