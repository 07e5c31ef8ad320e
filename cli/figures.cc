#include "cli/figures.h"

#include <algorithm>
#include <cmath>

#include "traces/analysis/step_use.h"

namespace penstock::cli {
namespace {

double ratio(Nanoseconds a, Nanoseconds b) {
  return b.value == 0 ? 0 : seconds(a) / seconds(b);
}

// When each operation could end if ranks were never occupied. By (direction, stage, microbatch,
// slice).
class LongestChain {
 public:
  LongestChain(const Order& order, const OrderCosts& costs) : order_(order), costs_(costs) {
    const auto cells = static_cast<std::size_t>(order.stages) *
                       static_cast<std::size_t>(order.microbatches) *
                       static_cast<std::size_t>(order.slices);
    cells_.resize(cells * (order.rank_of.size() / static_cast<std::size_t>(order.stages)));
    edges_in_.resize(static_cast<std::size_t>(order.stages));
    edges_out_.resize(static_cast<std::size_t>(order.stages));
    for (std::size_t e = 0; e < order.edges.size(); ++e) {
      edges_in_[order.edges[e].to.index()].push_back(e);
      edges_out_[order.edges[e].from.index()].push_back(e);
    }
    for (const OrderOp& op : order.ops) {
      if (!is_compute(op.op)) continue;
      Cell& cell = at(op);
      if (op.op == Op::F) cell.forward = duration(op, costs);
      if (op.op == Op::R) cell.recompute = duration(op, costs);
      if (is_backward(op.op)) cell.backward = duration(op, costs);
      if (op.op == Op::W) cell.weight = duration(op, costs);
    }
  }

  Nanoseconds length() {
    const int directions = order_.rank_of.size() > static_cast<std::size_t>(order_.stages) ? 2 : 1;
    for (int direction = 0; direction < directions; ++direction) {
      for (std::int32_t m = 0; m < order_.microbatches; ++m) {
        forwards(direction, m);
        backwards(direction, m);
      }
    }
    return longest_;
  }

 private:
  // Durations become ends; an operation that the order does not have takes no time and ends when
  // its inputs are there.
  struct Cell {
    Nanoseconds forward, recompute, backward, weight;
  };

  Cell& at(const OrderOp& op) {
    return at(static_cast<int>(op.direction), op.stage, static_cast<std::int32_t>(op.microbatch),
              op.slice);
  }
  Cell& at(int direction, std::int32_t stage, std::int32_t m, std::int32_t slice) {
    const auto row = static_cast<std::size_t>(direction) * static_cast<std::size_t>(order_.stages) +
                     static_cast<std::size_t>(stage);
    const auto column = static_cast<std::size_t>(m) * static_cast<std::size_t>(order_.slices) +
                        static_cast<std::size_t>(slice);
    return cells_[row * static_cast<std::size_t>(order_.microbatches) *
                      static_cast<std::size_t>(order_.slices) +
                  column];
  }
  Nanoseconds transfer(const std::vector<Nanoseconds>& times, std::size_t edge,
                       int direction) const {
    const StageEdge& e = order_.edges[edge];
    return order_.rank(e.from, direction) == order_.rank(e.to, direction) ? Nanoseconds(0)
                                                                          : times[edge];
  }

  void forwards(int direction, std::int32_t m) {
    for (std::int32_t s = 0; s < order_.stages; ++s) {
      for (std::int32_t slice = 0; slice < order_.slices; ++slice) {
        Nanoseconds start = slice > 0 ? at(direction, s, m, slice - 1).forward : Nanoseconds(0);
        for (const std::size_t e : edges_in_[static_cast<std::size_t>(s)]) {
          start = std::max(start, at(direction, order_.edges[e].from.value, m, slice).forward +
                                      transfer(costs_.activation, e, direction));
        }
        Cell& cell = at(direction, s, m, slice);
        cell.forward += start;
        longest_ = std::max(longest_, cell.forward);
      }
    }
  }
  void backwards(int direction, std::int32_t m) {
    for (std::int32_t s = order_.stages - 1; s >= 0; --s) {
      for (std::int32_t slice = order_.slices - 1; slice >= 0; --slice) {
        Cell& cell = at(direction, s, m, slice);
        Nanoseconds start = cell.forward + cell.recompute;
        if (slice + 1 < order_.slices)
          start = std::max(start, at(direction, s, m, slice + 1).backward);
        for (const std::size_t e : edges_out_[static_cast<std::size_t>(s)]) {
          start = std::max(start, at(direction, order_.edges[e].to.value, m, slice).backward +
                                      transfer(costs_.gradient, e, direction));
        }
        cell.backward += start;
        longest_ = std::max(longest_, cell.backward + cell.weight);
      }
    }
  }

  const Order& order_;
  const OrderCosts& costs_;
  std::vector<Cell> cells_;
  std::vector<std::vector<std::size_t>> edges_in_, edges_out_;  // by stage
  Nanoseconds longest_;
};

}  // namespace

Idleness idleness(const std::vector<RankUse>& use) {
  Nanoseconds busy, idle;
  for (const RankUse& rank : use) {
    busy += rank.busy;
    idle += rank.idle;
  }
  return {.bubble_fraction = ratio(idle, busy + idle), .idle_over_busy = ratio(idle, busy)};
}

Idleness idleness(const std::vector<Nanoseconds>& busy, Nanoseconds makespan) {
  std::vector<RankUse> use;
  for (const Nanoseconds time : busy)
    use.push_back({.rank = {}, .busy = time, .idle = makespan - time});
  return idleness(use);
}

Unit unit_of_time(bool own_unit) {
  return own_unit ? Unit(Unit::None) : Unit(Unit::Seconds);
}

Value in_unit(double time, bool own_unit) {
  const bool whole = own_unit && time == std::round(time) && std::abs(time) < 1e15;
  return whole ? Value(static_cast<std::int64_t>(time)) : Value(time);
}

void add_devices(Answer& answer, const Timeline& timeline, bool own_unit) {
  const Unit unit = unit_of_time(own_unit);
  Table& devices = answer.add_table("devices", "devices, in the median step",
                                    {{"rank", "rank"},
                                     {"busy_s", "busy", unit},
                                     {"idle_s", "idle", unit},
                                     {"peak_memory_bytes", "peak memory", Unit::Bytes},
                                     {"live_peak_bytes", "live peak", Unit::Bytes}});
  const auto known = [](const std::vector<Bytes>& peaks, std::size_t rank) {
    return rank < peaks.size() && peaks[rank].value > 0 ? Value(peaks[rank].value) : Value();
  };
  for (const RankUse& use : step_use(timeline)) {
    devices.add({use.rank.value, in_unit(seconds(use.busy), own_unit),
                 in_unit(seconds(use.idle), own_unit),
                 known(timeline.peak_memory, use.rank.index()),
                 known(timeline.live_peak, use.rank.index())});
  }
}

Nanoseconds duration(const OrderOp& op, const OrderCosts& costs) {
  switch (op.op) {
    case Op::F:
      return costs.forward[op.stage];
    case Op::BF:
      return costs.backward_input[op.stage] + costs.backward_weight[op.stage];
    case Op::B:
      return costs.backward_input[op.stage];
    case Op::W:
      return costs.backward_weight[op.stage];
    case Op::R:
      return costs.recompute[op.stage];
    case Op::Step:
      return costs.step[op.stage];
    default:
      return Nanoseconds(0);
  }
}

Nanoseconds lower_bound(const Order& order, const OrderCosts& costs) {
  Nanoseconds bound = LongestChain(order, costs).length();
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) {
    Nanoseconds work;
    for (const OrderOp& op : order.of(RankId(rank))) work += duration(op, costs);
    bound = std::max(bound, work);
  }
  return bound;
}

std::vector<std::int32_t> weight_copies(const Order& order, std::int32_t chunks) {
  std::vector<std::int32_t> held(static_cast<std::size_t>(order.ranks), 0);
  for (const std::int32_t rank : order.rank_of) ++held[static_cast<std::size_t>(rank)];
  for (std::int32_t& copies : held) copies /= chunks;
  return held;
}

}  // namespace penstock::cli
