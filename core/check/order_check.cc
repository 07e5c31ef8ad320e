#include <algorithm>

#include <fmt/format.h>

#include "core/check/report.h"

namespace penstock {
namespace {

using check_rules::rank_id;
using check_rules::Report;

constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

// What one operation waits for: that `op` of (stage, microbatch, slice) is over.
struct Dependency {
  Op op;
  std::size_t stage, column;
};

class OrderCheck {
 public:
  OrderCheck(const Order& order, Report& report) : order_(order), report_(report) {}

  void run() {
    if (!tables() || !coverage()) return;
    neighbours();
    steps();
    progress();
  }

 private:
  struct Cell {
    std::uint32_t forward = kAbsent, recompute = kAbsent, full = kAbsent, input = kAbsent,
                  weight = kAbsent;
    std::int32_t rank = -1;
  };

  Cell& cell(std::size_t stage, std::size_t column) { return cells_[stage * columns_ + column]; }
  std::size_t column(const OrderOp& op) const {
    return static_cast<std::size_t>(op.microbatch) * static_cast<std::size_t>(order_.slices) +
           op.slice;
  }
  static std::uint32_t* slot(Cell& cell, Op op) {
    switch (op) {
      case Op::F:
        return &cell.forward;
      case Op::R:
        return &cell.recompute;
      case Op::BF:
        return &cell.full;
      case Op::B:
        return &cell.input;
      case Op::W:
        return &cell.weight;
      default:
        return nullptr;
    }
  }

  bool tables() {
    const auto stages = static_cast<std::size_t>(std::max(order_.stages, 0));
    const std::size_t placed = order_.rank_of.size();
    bool right = order_.ranks > 0 && stages > 0 && order_.microbatches > 0 && order_.slices > 0 &&
                 (placed == stages || placed == 2 * stages) &&
                 order_.first.size() == static_cast<std::size_t>(order_.ranks) + 1 &&
                 order_.first.front() == 0 && order_.first.back() == order_.ops.size() &&
                 std::is_sorted(order_.first.begin(), order_.first.end());
    for (const std::int32_t rank : order_.rank_of)
      right = right && rank >= 0 && rank < order_.ranks;
    for (const StageEdge& edge : order_.edges)
      right = right && edge.from.valid() && edge.to.valid() && edge.from.index() < stages &&
              edge.to.index() < stages;
    if (!right) report_.add("tables", "the order's sizes, placement or edges do not fit together");
    return right;
  }

  bool coverage() {
    columns_ =
        static_cast<std::size_t>(order_.microbatches) * static_cast<std::size_t>(order_.slices);
    cells_.resize(static_cast<std::size_t>(order_.stages) * columns_);
    for (std::int32_t r = 0; r < order_.ranks && !report_.full(); ++r) {
      const std::span<const OrderOp> list = order_.of(RankId(r));
      for (std::uint32_t i = 0; i < list.size(); ++i) place(RankId(r), i, list[i]);
    }
    for (std::size_t k = 0; k < cells_.size() && !report_.full(); ++k) {
      const Cell& c = cells_[k];
      const bool once = c.full != kAbsent ? c.input == kAbsent && c.weight == kAbsent
                                          : c.input != kAbsent && c.weight != kAbsent;
      if (c.forward != kAbsent && once) continue;
      report_.add(
          "R1",
          fmt::format("microbatch {} of stage {} {}",
                      k % columns_ / static_cast<std::size_t>(order_.slices), k / columns_,
                      c.forward == kAbsent ? "has no F" : "needs one BF, or one B and one W"));
    }
    return report_.size() == 0;
  }

  void place(RankId rank, std::uint32_t position, const OrderOp& op) {
    const bool known = is_compute(op.op) || op.op == Op::Step;
    if (!known || op.stage >= order_.stages ||
        static_cast<std::int32_t>(op.microbatch) >= order_.microbatches ||
        op.slice >= order_.slices) {
      report_.add("R1",
                  fmt::format("rank {}: '{}' is no operation of this order", rank.value, text(op)),
                  {rank}, {text(op)});
      return;
    }
    const std::size_t home =
        static_cast<std::size_t>(op.direction) * static_cast<std::size_t>(order_.stages) + op.stage;
    if (home >= order_.rank_of.size() || order_.rank_of[home] != rank.value) {
      report_.add("R2",
                  fmt::format("rank {} runs '{}', which is placed {}", rank.value, text(op),
                              home >= order_.rank_of.size()
                                  ? "nowhere: there is one direction"
                                  : fmt::format("on rank {}", order_.rank_of[home])),
                  {rank}, {text(op)});
      return;
    }
    if (op.op == Op::Step) return;
    Cell& c = cell(op.stage, column(op));
    std::uint32_t* at = slot(c, op.op);
    if (*at != kAbsent)
      report_.add(
          "R1",
          fmt::format("'{}' is there twice: on ranks {} and {}", text(op), c.rank, rank.value),
          {RankId(c.rank), rank}, {text(op), text(op)});
    if (c.rank >= 0 && c.rank != rank.value)
      report_.add("R2",
                  fmt::format("rank {} runs '{}', but rank {} runs the other operations of that "
                              "microbatch and stage",
                              rank.value, text(op), c.rank),
                  {rank, RankId(c.rank)}, {text(op)});
    *at = position;
    c.rank = rank.value;
  }

  void neighbours() {
    before_.resize(static_cast<std::size_t>(order_.stages));
    after_.resize(static_cast<std::size_t>(order_.stages));
    for (const StageEdge& edge : order_.edges) {
      before_[edge.to.index()].push_back(edge.from.index());
      after_[edge.from.index()].push_back(edge.to.index());
    }
  }

  // R10: nothing of a stage after its STEP.
  void steps() {
    for (std::int32_t r = 0; r < order_.ranks; ++r) {
      std::vector<bool> stepped(static_cast<std::size_t>(order_.stages) * 2, false);
      for (const OrderOp& op : order_.of(RankId(r))) {
        const std::size_t copy = op.stage * std::size_t{2} + op.direction;
        if (stepped[copy])
          report_.add("R10",
                      fmt::format("rank {}: '{}' comes after the STEP of its stage", r, text(op)),
                      {RankId(r)}, {text(op)});
        if (op.op == Op::Step) stepped[copy] = true;
      }
    }
  }

  // The first thing that `op` waits for and that is not over; nothing if it may run.
  bool blocked(const OrderOp& op, Dependency& on) {
    const auto unmet = [&](Op needed, std::size_t stage, std::size_t c) {
      const Cell& at = cell(stage, c);
      if (needed == Op::BF && at.full == kAbsent) needed = Op::B;
      const std::uint32_t position = *slot(cell(stage, c), needed);
      if (position == kAbsent || position < next_[static_cast<std::size_t>(at.rank)]) return false;
      on = {needed, stage, c};
      return true;
    };
    const std::size_t c = column(op);
    const auto slices = static_cast<std::size_t>(order_.slices);
    const bool first_slice = op.slice == 0, last_slice = op.slice + 1 == order_.slices;
    switch (op.op) {
      case Op::F:
        for (const std::size_t stage : before_[op.stage])
          if (unmet(Op::F, stage, c)) return true;
        return slices > 1 && !first_slice && unmet(Op::F, op.stage, c - 1);
      case Op::BF:
      case Op::B:
        for (const std::size_t stage : after_[op.stage])
          if (unmet(Op::BF, stage, c)) return true;
        if (slices > 1 && !last_slice && unmet(Op::BF, op.stage, c + 1)) return true;
        return unmet(Op::F, op.stage, c) || unmet(Op::R, op.stage, c);
      case Op::W:
        return unmet(Op::B, op.stage, c);
      case Op::R:
        return unmet(Op::F, op.stage, c);
      default:
        return false;
    }
  }

  // R5: the lists as automata. A rank that is stuck is tried again whenever the rank it waits for
  // has moved. Fused operations start together, so one that waits for another of them hangs.
  void progress() {
    const auto ranks = static_cast<std::size_t>(order_.ranks);
    next_.assign(ranks, 0);
    std::vector<std::vector<std::size_t>> waiting(ranks);
    std::vector<std::size_t> ready;
    for (std::size_t r = ranks; r-- > 0;) ready.push_back(r);
    std::vector<Dependency> on(ranks);
    while (!ready.empty()) {
      const std::size_t r = ready.back();
      ready.pop_back();
      const std::span<const OrderOp> list = order_.of(rank_id(r));
      const std::uint32_t from = next_[r];
      while (next_[r] < list.size()) {
        std::uint32_t end = next_[r] + 1;
        while (end < list.size() && list[end - 1].fused != 0) ++end;
        bool stuck = false;
        for (std::uint32_t i = next_[r]; i < end && !stuck; ++i) stuck = blocked(list[i], on[r]);
        if (stuck) {
          waiting[static_cast<std::size_t>(cell(on[r].stage, on[r].column).rank)].push_back(r);
          break;
        }
        next_[r] = end;
      }
      if (next_[r] == from) continue;
      ready.insert(ready.end(), waiting[r].begin(), waiting[r].end());
      waiting[r].clear();
    }
    for (std::size_t r = 0; r < ranks; ++r)
      if (next_[r] < order_.of(rank_id(r)).size()) return tell(r, on);
  }

  void tell(std::size_t rank, const std::vector<Dependency>& on) {
    std::vector<std::size_t> path, seen(on.size(), 0);
    while (seen[rank] == 0) {
      path.push_back(rank);
      seen[rank] = path.size();
      rank = static_cast<std::size_t>(cell(on[rank].stage, on[rank].column).rank);
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen[rank]) - 1);
    std::string story;
    std::vector<RankId> ranks;
    std::vector<std::string> instructions;
    for (const std::size_t r : path) {
      const OrderOp& at = order_.of(rank_id(r))[next_[r]];
      Cell& target = cell(on[r].stage, on[r].column);
      const OrderOp& needed = order_.of(RankId(target.rank))[*slot(target, on[r].op)];
      story += fmt::format("{}rank {} at '{}' waits for '{}' of rank {}", story.empty() ? "" : ", ",
                           r, text(at), text(needed), target.rank);
      ranks.push_back(rank_id(r));
      instructions.push_back(fmt::format("rank {}: {}", r, text(at)));
    }
    report_.add("R5", "the order hangs: " + story, std::move(ranks), std::move(instructions));
  }

  const Order& order_;
  Report& report_;
  std::size_t columns_ = 0;
  std::vector<Cell> cells_;
  std::vector<std::vector<std::size_t>> before_,
      after_;                        // by stage: stages it receives from, sends to
  std::vector<std::uint32_t> next_;  // by rank
};

}  // namespace

std::vector<Violation> check(const Order& order) {
  Report report(CheckOptions{}.most);
  OrderCheck(order, report).run();
  return report.take();
}

}  // namespace penstock
