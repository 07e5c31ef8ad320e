#include "tests/sim/reference_evaluator.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace penstock::test {
namespace {

// direction, stage, microbatch, slice, forward or not
using Name = std::tuple<int, int, int, int, bool>;

struct Needed {
  Name name;
  std::int64_t transfer = 0;
  bool is_message = false;
};

std::vector<Needed> needs(const Order& order, const OrderCosts& costs, const OrderOp& op) {
  const int d = op.direction, s = op.stage, i = static_cast<int>(op.microbatch), l = op.slice;
  std::vector<Needed> out;
  const auto here = [&](int slice, bool forward) { out.push_back({{d, s, i, slice, forward}}); };
  const auto across = [&](StageId other, bool forward, Nanoseconds time) {
    const bool crosses = order.rank(other, d) != order.rank(StageId(s), d);
    out.push_back({{d, other.value, i, l, forward}, crosses ? time.value : 0, true});
  };
  if (op.op == Op::F) {
    if (l > 0) here(l - 1, true);
    for (std::size_t e = 0; e < order.edges.size(); ++e) {
      if (order.edges[e].to.value == s) across(order.edges[e].from, true, costs.activation[e]);
    }
  } else if (is_backward(op.op)) {
    here(l, true);
    if (l + 1 < order.slices) here(l + 1, false);
    for (std::size_t e = 0; e < order.edges.size(); ++e) {
      if (order.edges[e].from.value == s) across(order.edges[e].to, false, costs.gradient[e]);
    }
  } else if (op.op == Op::W || op.op == Op::R) {
    here(l, op.op == Op::R);
  }
  return out;
}

std::int64_t length(const OrderCosts& costs, const OrderOp& op) {
  const std::int64_t b = costs.backward_input[op.stage].value,
                     w = costs.backward_weight[op.stage].value;
  const std::map<Op, std::int64_t> lengths = {{Op::F, costs.forward[op.stage].value},
                                              {Op::BF, b + w},
                                              {Op::B, b},
                                              {Op::W, w},
                                              {Op::R, costs.recompute[op.stage].value},
                                              {Op::Step, costs.step[op.stage].value}};
  return lengths.at(op.op);
}

}  // namespace

std::optional<ReferenceTimes> reference_times(const Order& order, const OrderCosts& costs,
                                              Discipline discipline) {
  ReferenceTimes times;
  times.starts.resize(order.ops.size());
  times.ends.resize(order.ops.size());
  std::map<Name, std::int64_t> ended;
  std::vector<std::size_t> next(order.first.begin(), order.first.end() - 1);
  std::vector<std::int64_t> clock(next.size(), 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t r = 0; r < next.size(); ++r) {
      if (next[r] == order.first[r + 1]) continue;
      std::size_t last = next[r];
      while (last + 1 < order.first[r + 1] && order.ops[last].fused) ++last;
      bool is_ready = true;
      std::int64_t start = clock[r], sum = 0;
      for (std::size_t k = next[r]; k <= last; ++k) {
        sum += length(costs, order.ops[k]);
        for (const Needed& needed : needs(order, costs, order.ops[k])) {
          const auto found = ended.find(needed.name);
          if (found == ended.end()) {
            is_ready = false;
          } else if (needed.is_message && discipline == Discipline::Rendezvous) {
            start = std::max(start, found->second) + needed.transfer;
          } else {
            start = std::max(start, found->second + needed.transfer);
          }
        }
      }
      if (!is_ready) continue;
      progress = true;
      clock[r] = start + sum;
      for (; next[r] <= last; ++next[r]) {
        const OrderOp& op = order.ops[next[r]];
        times.starts[next[r]] = Nanoseconds(start);
        times.ends[next[r]] = Nanoseconds(clock[r]);
        const Name name{op.direction, op.stage, static_cast<int>(op.microbatch), op.slice,
                        op.op == Op::F};
        if (op.op == Op::F || is_backward(op.op)) ended[name] = clock[r];
      }
    }
  }
  for (std::size_t r = 0; r < next.size(); ++r) {
    if (next[r] < order.first[r + 1]) return std::nullopt;
  }
  return times;
}

}  // namespace penstock::test
