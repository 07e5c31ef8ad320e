#include "planner/partition/contiguous_dp.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace penstock {
namespace {

constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

Bytes least_memory(const StageFigures& figures, RankDemand demand, std::int64_t states) {
  const Bytes kept = figures.stash + figures.data;
  const Bytes before = demand.before_backward * (kept + figures.sent);
  const Bytes peak = demand.peak * kept + figures.sent + figures.received;
  return (2 + states) * figures.parameters + figures.workspace + std::max(before, peak);
}

// Of a step; `waits`: for the messages of one microbatch.
Nanoseconds step_time(const StageFigures& figures, Nanoseconds waits,
                      const DivisionProblem& problem) {
  const Nanoseconds fill = problem.counts_fill ? figures.before : Nanoseconds(0);
  return problem.microbatches * (figures.compute + waits) + std::max(fill, figures.step);
}

// What no longer range from the same first layer takes less of.
Bytes growing_memory(const StageFigures& figures, RankDemand demand, std::int64_t states) {
  return (2 + states) * figures.parameters + figures.workspace +
         std::max(demand.peak, demand.before_backward) * (figures.stash + figures.data);
}

// What a stage [first, end) costs at a position.
struct StageCost {
  std::int64_t time, memory, excess;  // excess: bytes beyond the limit; 0 if it fits
};

class Divider {
 public:
  Divider(StageGrower& range, const DivisionProblem& problem)
      : range_(range),
        problem_(problem),
        n_(range.layers()),
        p_(static_cast<std::int32_t>(problem.demands.size())) {
    PENSTOCK_CHECK(p_ >= 1 && p_ <= n_, "as many stages as layers, at most");
    PENSTOCK_CHECK(problem.limits.size() == problem.demands.size() &&
                       problem.from_previous.size() == problem.demands.size() &&
                       problem.from_next.size() == problem.demands.size(),
                   "one figure for each stage");
    for (std::int32_t s = 0; s < p_; ++s) {
      previous_class_.push_back(
          class_of(s > 0 ? problem.from_previous[at(s)] : problem.from_previous[0]));
      next_class_.push_back(
          class_of(s + 1 < p_ ? problem.from_next[at(s)] : problem.from_previous[0]));
      const Bytes reserved = problem.reserved.empty() ? Bytes(0) : problem.reserved[at(s)];
      limits_.push_back(
          problem.limits[at(s)].value == 0 ? kInfinite : (problem.limits[at(s)] - reserved).value);
    }
    in_times_.resize(hops_.size());
    out_times_.resize(hops_.size());
  }

  std::optional<Division> divide() {
    stops_ = true;
    Division division;
    // A division within the estimate is the optimum: what was left out is beyond it.
    for (most_time_ = estimate();; most_time_ *= 2) {
      const std::int64_t time =
          best([](const StageCost& cost) { return cost.excess > 0 ? kInfinite : cost.time; });
      division.bottleneck = Nanoseconds(time);
      if (time <= most_time_ || (time < kInfinite && !left_out_)) break;
      if (!left_out_ || stopped()) return std::nullopt;
    }
    const std::int64_t bottleneck = most_time_ = division.bottleneck.value;
    division.memory = Bytes(best([&](const StageCost& cost) {
      return cost.excess > 0 || cost.time > bottleneck ? kInfinite : cost.memory;
    }));
    const std::int64_t memory = division.memory.value;
    best([&](const StageCost& cost) {
      return cost.excess > 0 || cost.time > bottleneck || cost.memory > memory ? kInfinite : 0;
    });
    if (stopped()) return std::nullopt;  // what a pass that was cut short left is no division
    division.ends = ends();
    return division;
  }

  Shortage shortage() {
    std::int64_t excess = kInfinite;
    for (most_excess_ = kTensorAlignment;; most_excess_ *= 16) {
      excess = best([](const StageCost& cost) { return cost.excess; });
      if (excess <= most_excess_) break;
    }
    std::int32_t first = 0, stage = 0;
    for (const std::int32_t end : ends()) {
      range_.start(first);
      while (range_.end() < end) range_.extend();
      if (cost(stage, range_.figures()).excess == excess) return {stage, first, end, Bytes(excess)};
      first = end;
      ++stage;
    }
    PENSTOCK_CHECK(false, "one of the stages lacks what the division lacks");
  }

 private:
  // A little more than an even share of all work, transfers aside, and at least the longest layer.
  std::int64_t estimate() {
    std::int64_t whole = 0, longest = 0;
    for (std::int32_t layer = 0; layer < n_; ++layer) {
      range_.start(layer);
      range_.extend();
      const std::int64_t time =
          problem_.microbatches * range_.figures().compute.value + range_.figures().step.value;
      whole += time;
      longest = std::max(longest, time);
    }
    return std::max(longest, whole / p_ + whole / p_ / 4 + whole / problem_.microbatches) + 1;
  }

  // Asked once a first layer: O(n·p) between two answers.
  bool stopped() const { return stops_ && problem_.stop.stop_requested(); }

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::size_t cell(std::int32_t stage, std::int32_t first) const {
    return at(stage) * at(n_ + 1) + at(first);
  }

  // Hops are few: their transfer times are computed once a range, not once a position.
  std::size_t class_of(const Hop& hop) {
    const auto found = std::find(hops_.begin(), hops_.end(), hop);
    if (found != hops_.end()) return static_cast<std::size_t>(found - hops_.begin());
    hops_.push_back(hop);
    return hops_.size() - 1;
  }

  StageCost cost(std::int32_t stage, const StageFigures& figures) const {
    std::int64_t waits = 0;
    if (stage > 0) waits += in_times_[previous_class_[at(stage)]];
    if (stage + 1 < p_) waits += out_times_[next_class_[at(stage)]];
    StageCost cost{step_time(figures, Nanoseconds(waits), problem_).value, 0, 0};
    cost.memory =
        least_memory(figures, problem_.demands[at(stage)], problem_.optimizer_states).value;
    if (limits_[at(stage)] < kInfinite)
      cost.excess = std::max<std::int64_t>(0, cost.memory - limits_[at(stage)]);
    for (const RefusedStage& refused : problem_.refused) {
      if (refused.stage == stage && refused.first == range_.first() && refused.end == range_.end())
        cost.excess = std::max(cost.excess, refused.excess.value);
    }
    return cost;
  }

  bool outgrown(std::int32_t stage, const StageFigures& figures) const {
    if (limits_[at(stage)] == kInfinite) return false;
    return growing_memory(figures, problem_.demands[at(stage)], problem_.optimizer_states).value >
           limits_[at(stage)] + most_excess_;
  }

  // The least over divisions of the largest `value` of a stage; value_ and next_ then hold, for
  // stages s.. over layers j.., that least and the smallest end of stage s that attains it.
  template <class Value>
  std::int64_t best(Value value) {
    value_.assign(at(p_ + 1) * at(n_ + 1), kInfinite);
    next_.assign(value_.size(), -1);
    left_out_ = false;
    value_[cell(p_, n_)] = 0;
    for (std::int32_t first = n_ - 1; first >= 0 && !stopped(); --first) {
      positions_.clear();  // at which the range may still fit; each stage before needs a layer
      for (std::int32_t stage = 0; stage <= std::min(first, p_ - 1); ++stage)
        positions_.push_back(stage);
      range_.start(first);
      while (range_.end() < n_ && !positions_.empty()) {
        range_.extend();
        const StageFigures& figures = range_.figures();
        if (step_time(figures, Nanoseconds(0), problem_).value > most_time_) {
          left_out_ = true;  // and so is every longer range
          break;
        }
        for (std::size_t h = 0; h < hops_.size(); ++h) {
          in_times_[h] = hops_[h].time(figures.received).value;
          out_times_[h] = hops_[h].time(figures.sent).value;
        }
        std::erase_if(positions_, [&](std::int32_t stage) { return outgrown(stage, figures); });
        for (const std::int32_t stage : positions_) try_stage(stage, value);
      }
    }
    return value_[cell(0, 0)];
  }

  // The range at hand as that stage, before the best of what is behind it.
  template <class Value>
  void try_stage(std::int32_t stage, const Value& value) {
    const std::int64_t rest = value_[cell(
        stage + 1, range_.end())];  // infinite where too few layers are left, or too many
    std::int64_t& known = value_[cell(stage, range_.first())];
    if (rest >= known) return;
    const std::int64_t whole = std::max(rest, value(cost(stage, range_.figures())));
    if (whole >= known) return;
    known = whole;
    next_[cell(stage, range_.first())] = range_.end();
  }

  std::vector<std::int32_t> ends() const {
    std::vector<std::int32_t> ends;
    for (std::int32_t stage = 0, first = 0; stage < p_; ++stage) {
      first = next_[cell(stage, first)];
      ends.push_back(first);
    }
    return ends;
  }

  StageGrower& range_;
  const DivisionProblem& problem_;
  const std::int32_t n_, p_;
  std::vector<std::int64_t> limits_;
  std::vector<Hop> hops_;
  std::vector<std::size_t> previous_class_, next_class_;
  std::vector<std::int64_t> in_times_, out_times_;  // by hop class, of the range at hand
  std::vector<std::int32_t> positions_;
  std::vector<std::int64_t> value_;  // [stage][first]
  std::vector<std::int32_t> next_;
  std::int64_t most_time_ = kInfinite;  // ranges that compute for longer are left out
  std::int64_t most_excess_ = 0;        // and stages that exceed their limit by more
  bool left_out_ = false;               // for their time
  bool stops_ = false;                  // a shortage is what is left to say after a stop
};

}  // namespace

std::vector<RankDemand> rank_demands(const Order& order) {
  const PeakActivations peaks = peak_activations(order);
  std::vector<RankDemand> demands;
  for (std::int32_t rank = 0; rank < order.ranks; ++rank) {
    RankDemand demand{peaks.until_weight[static_cast<std::size_t>(rank)], 0};
    for (const OrderOp& op : order.of(RankId(rank))) {
      if (is_backward(op.op)) break;
      demand.before_backward += op.op == Op::F;
    }
    demands.push_back(demand);
  }
  return demands;
}

Nanoseconds stage_time(const StageFigures& figures, const DivisionProblem& problem,
                       std::int32_t stage) {
  const auto s = static_cast<std::size_t>(stage);
  Nanoseconds waits;
  if (s > 0) waits += problem.from_previous[s].time(figures.received);
  if (s + 1 < problem.demands.size()) waits += problem.from_next[s].time(figures.sent);
  return step_time(figures, waits, problem);
}

Bytes least_memory(const StageFigures& figures, const DivisionProblem& problem,
                   std::int32_t stage) {
  return least_memory(figures, problem.demands[static_cast<std::size_t>(stage)],
                      problem.optimizer_states);
}

std::optional<Division> divide(StageGrower& range, const DivisionProblem& problem) {
  return Divider(range, problem).divide();
}

Shortage shortage(StageGrower& range, const DivisionProblem& problem) {
  return Divider(range, problem).shortage();
}

}  // namespace penstock
