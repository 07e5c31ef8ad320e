#include "sim/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace penstock {
namespace {

// Marks in finish_ before an operation has run. kNobody, or kFirstMark - r: rank r waits for it, and so does each rank
// along next_waiter_ from r. A rank runs its list until it meets an input that is not there, leaves its mark in the slot
// and is put back on the stack by whoever fills the slot: no queue, and each operation is looked at about once.
constexpr std::int64_t kNobody = -1;
constexpr std::int64_t kFirstMark = -2;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Kinds of routes: F, BF, B, W, R as in Op, then STEP.
constexpr std::size_t kKinds = 6;
constexpr std::size_t kStepKind = 5;

inline std::size_t kind_of(Op op) {
  const std::size_t kind = static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::F);
  if (kind < kStepKind) [[likely]] return kind;
  PENSTOCK_CHECK(op == Op::Step, "an order holds F, BF, B, W, R and STEP only");
  return kStepKind;
}
static_assert(static_cast<int>(Op::BF) == static_cast<int>(Op::F) + 1 && static_cast<int>(Op::B) == static_cast<int>(Op::F) + 2 &&
              static_cast<int>(Op::W) == static_cast<int>(Op::F) + 3 && static_cast<int>(Op::R) == static_cast<int>(Op::F) + 4);

// Edge numbers grouped by stage, ascending within each: a counting sort.
template <class End>
void group_edges(const Order& order, End end, std::vector<std::int32_t>& edges, std::vector<std::size_t>& first) {
  first.assign(static_cast<std::size_t>(order.stages) + 1, 0);
  for (const StageEdge& edge : order.edges) ++first[end(edge).index() + 1];
  for (std::size_t s = 1; s < first.size(); ++s) first[s] += first[s - 1];
  edges.resize(order.edges.size());
  for (std::size_t e = 0; e < order.edges.size(); ++e) edges[first[end(order.edges[e]).index()]++] = static_cast<std::int32_t>(e);
  for (std::size_t s = first.size() - 1; s > 0; --s) first[s] = first[s - 1];
  first[0] = 0;
}

}  // namespace

double Evaluation::bubble_fraction() const {
  if (makespan.value == 0) return 0;
  const Nanoseconds most = busy.empty() ? Nanoseconds() : *std::max_element(busy.begin(), busy.end());
  return 1 - static_cast<double>(most.value) / static_cast<double>(makespan.value);
}

// The loop, for one discipline, and for chains of stages (at most one input, one slice) or any order.
template <Discipline kDiscipline, bool kChain>
struct Evaluator::Run {
  Evaluator& evaluator;
  const Order& order;
  std::int64_t* const finish = evaluator.finish_.data();
  const Route* const routes = evaluator.routes_.data();
  const std::uint32_t stages = static_cast<std::uint32_t>(order.stages);
  const std::uint32_t microbatches = static_cast<std::uint32_t>(order.microbatches);
  const std::uint32_t slices = static_cast<std::uint32_t>(order.slices);

  const Route& route(const OrderOp& op) const {
    PENSTOCK_CHECK(op.stage < stages && op.microbatch < microbatches, "an operation of an order is out of range");
    const std::size_t copy = op.direction * std::size_t{stages} + op.stage;
    return routes[copy * kKinds + kind_of(op.op)];
  }
  std::size_t index(const OrderOp& op) const {
    if constexpr (kChain) return op.microbatch;
    PENSTOCK_CHECK(op.slice < slices, "a slice of an order is out of range");
    return std::size_t{op.microbatch} * slices + op.slice;
  }

  // The first slot that must be filled before the operation can start and is not, or kNone.
  std::size_t missing(const OrderOp& op, const Route& r, std::size_t i) const {
    if constexpr (kChain) {
      if ((finish[r.own + i] | finish[r.input + i]) >= 0) [[likely]] return kNone;
      return finish[r.own + i] < 0 ? r.own + i : r.input + i;
    } else {
      if (finish[r.own + i] < 0) return r.own + i;
      const std::int32_t before = op.slice + r.slice_before;
      if (r.slice_before != 0 && before >= 0 && before < order.slices) {
        const std::size_t slot = r.output + i + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(r.slice_before));
        if (finish[slot] < 0) return slot;
      }
      for (std::uint32_t k = r.first_input; k < r.last_input; ++k) {
        if (finish[evaluator.inputs_[k].row + i] < 0) return evaluator.inputs_[k].row + i;
      }
      return kNone;
    }
  }

  // When a rank that is free at `clock` has one more input. Its transfer ends at or after the one before on its edge, as
  // the rank waited for that too, so edges need no clock of their own.
  static std::int64_t arrive(std::int64_t clock, std::int64_t made, std::int64_t transfer) {
    if constexpr (kDiscipline == Discipline::Eager) return std::max(clock, made + transfer);
    return std::max(clock, made) + transfer;
  }
  std::int64_t receive(const Route& r, std::size_t i, std::int64_t clock) const {
    if constexpr (kChain) return arrive(clock, finish[r.input + i], r.transfer);
    for (std::uint32_t k = r.first_input; k < r.last_input; ++k) {
      const Input& input = evaluator.inputs_[k];
      clock = arrive(clock, finish[input.row + i], input.transfer);
    }
    return clock;
  }

  void publish(std::size_t slot, std::int64_t end) const {
    std::int64_t mark = finish[slot];
    finish[slot] = end;
    while (mark <= kFirstMark) {
      const std::int32_t waiter = static_cast<std::int32_t>(kFirstMark - mark);
      evaluator.ready_.push_back(waiter);
      mark = evaluator.next_waiter_[static_cast<std::size_t>(waiter)];
    }
  }

  void wait(std::int32_t rank, std::size_t slot) const {
    evaluator.ranks_[static_cast<std::size_t>(rank)].waits_for = slot;
    evaluator.next_waiter_[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(finish[slot]);
    finish[slot] = kFirstMark - rank;
  }

  void note(std::size_t op, std::int64_t start, std::int64_t end) const {
    evaluator.starts[op] = Nanoseconds(start);
    evaluator.ends[op] = Nanoseconds(end);
  }

  // Runs the fused operations [first, last]; the missing slot if one of them cannot start yet.
  std::size_t run_fused(std::size_t first, std::size_t last, RankState& rank) const {
    std::int64_t start = rank.clock;
    std::int64_t duration = 0;
    for (std::size_t k = first; k <= last; ++k) {
      const OrderOp op = order.ops[k];
      if (const std::size_t slot = missing(op, route(op), index(op)); slot != kNone) return slot;
    }
    for (std::size_t k = first; k <= last; ++k) {
      const OrderOp op = order.ops[k];
      start = receive(route(op), index(op), start);
      duration += route(op).duration;
    }
    rank.clock = start + duration;
    rank.busy += duration;
    if (rank.first_start < 0) rank.first_start = start;
    for (std::size_t k = first; k <= last; ++k) {
      publish(route(order.ops[k]).output + index(order.ops[k]), rank.clock);
      if (evaluator.record) note(k, start, rank.clock);
    }
    return kNone;
  }

  void run_rank(std::int32_t number) const {
    RankState& state = evaluator.ranks_[static_cast<std::size_t>(number)];
    RankState rank = state;  // in registers: stores to finish could alias it
    const OrderOp* const ops = order.ops.data();
    const bool record = evaluator.record;
    while (rank.next < rank.end) {
      const OrderOp op = ops[rank.next];
      if (op.fused) [[unlikely]] {
        std::size_t last = rank.next;
        while (last + 1 < rank.end && ops[last].fused) ++last;
        const std::size_t slot = run_fused(rank.next, last, rank);
        if (slot != kNone) {
          wait(number, slot);
          break;
        }
        rank.next = last + 1;
        continue;
      }
      const Route& r = route(op);
      const std::size_t i = index(op);
      if (const std::size_t slot = missing(op, r, i); slot != kNone) [[unlikely]] {
        wait(number, slot);
        break;
      }
      const std::int64_t start = receive(r, i, rank.clock);
      rank.clock = start + r.duration;
      rank.busy += r.duration;
      if (rank.first_start < 0) rank.first_start = start;
      publish(r.output + i, rank.clock);
      if (record) note(rank.next, start, rank.clock);
      ++rank.next;
    }
    rank.waits_for = state.waits_for;
    state = rank;
  }

  // True if every list was finished.
  bool operator()() const {
    std::vector<std::int32_t>& ready = evaluator.ready_;
    while (!ready.empty()) {
      const std::int32_t rank = ready.back();
      ready.pop_back();
      run_rank(rank);
    }
    return std::all_of(evaluator.ranks_.begin(), evaluator.ranks_.end(), [](const RankState& r) { return r.next == r.end; });
  }
};

// Rows of finish_: forward then backward of each copy of each stage, one row of zeros (the input of what has none) and
// one that is written and never read (the output of W, R and STEP). True if the order is a chain.
bool Evaluator::prepare(const Order& order, const OrderCosts& costs) {
  const std::size_t stages = static_cast<std::size_t>(order.stages);
  const std::size_t ranks = static_cast<std::size_t>(order.ranks);
  PENSTOCK_CHECK(order.first.size() == ranks + 1 && order.first.back() == order.ops.size(), "lists of an order");
  PENSTOCK_CHECK(order.rank_of.size() == stages || order.rank_of.size() == 2 * stages, "placement of an order");
  for (const auto* by_stage : {&costs.forward, &costs.backward_input, &costs.backward_weight, &costs.recompute, &costs.step}) {
    PENSTOCK_CHECK(by_stage->size() == stages, "costs are of another order: one a stage");
  }
  PENSTOCK_CHECK(costs.activation.size() == order.edges.size() && costs.gradient.size() == order.edges.size(),
                 "costs are of another order: one an edge");

  group_edges(order, [](const StageEdge& e) { return e.to; }, edges_in_, first_in_);
  group_edges(order, [](const StageEdge& e) { return e.from; }, edges_out_, first_out_);
  const std::size_t copies = order.rank_of.size();
  const std::size_t row = static_cast<std::size_t>(order.microbatches) * static_cast<std::size_t>(order.slices);
  finish_.assign((2 * copies + 2) * row, kNobody);
  std::fill(finish_.begin() + static_cast<std::ptrdiff_t>(2 * copies * row),
            finish_.begin() + static_cast<std::ptrdiff_t>((2 * copies + 1) * row), 0);
  routes_.assign(copies * kKinds, Route{});
  inputs_.clear();
  bool chain = order.slices == 1;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    const std::size_t stage = copy % stages;
    chain = chain && first_in_[stage + 1] - first_in_[stage] <= 1 && first_out_[stage + 1] - first_out_[stage] <= 1;
    prepare_stage(order, costs, static_cast<std::int32_t>(copy / stages), static_cast<std::int32_t>(stage));
  }

  ranks_.resize(ranks);
  next_waiter_.assign(ranks, static_cast<std::int32_t>(kNobody));
  ready_.clear();
  for (std::size_t r = ranks; r-- > 0;) {
    ranks_[r] = RankState{.next = order.first[r], .end = order.first[r + 1]};
    ready_.push_back(static_cast<std::int32_t>(r));
  }
  if (record) {
    starts.assign(order.ops.size(), Nanoseconds());
    ends.assign(order.ops.size(), Nanoseconds());
  }
  return chain;
}

void Evaluator::prepare_stage(const Order& order, const OrderCosts& costs, std::int32_t direction, std::int32_t stage) {
  const std::size_t s = static_cast<std::size_t>(stage);
  const std::size_t stages = static_cast<std::size_t>(order.stages);
  const std::size_t first_copy = static_cast<std::size_t>(direction) * stages;
  const std::size_t row = static_cast<std::size_t>(order.microbatches) * static_cast<std::size_t>(order.slices);
  const auto forward = [&](std::size_t at) { return 2 * (first_copy + at) * row; };
  const auto backward = [&](std::size_t at) { return forward(at) + row; };
  const std::size_t zeros = 2 * order.rank_of.size() * row;
  const std::size_t unread = zeros + row;
  const auto crosses = [&](std::size_t at) { return order.rank_of[first_copy + at] != order.rank_of[first_copy + s]; };

  const std::int64_t b = costs.backward_input[s].value;
  const std::int64_t w = costs.backward_weight[s].value;
  const Route kinds[kKinds] = {
      {.own = zeros, .output = forward(s), .duration = costs.forward[s].value, .slice_before = -1},
      {.own = forward(s), .output = backward(s), .duration = b + w, .slice_before = 1},
      {.own = forward(s), .output = backward(s), .duration = b, .slice_before = 1},
      {.own = backward(s), .output = unread, .duration = w},
      {.own = forward(s), .output = unread, .duration = costs.recompute[s].value},
      {.own = zeros, .output = unread, .duration = costs.step[s].value},
  };
  Route* const routes = &routes_[(first_copy + s) * kKinds];
  std::copy(std::begin(kinds), std::end(kinds), routes);

  const auto add_inputs = [&](std::size_t kind, const std::vector<std::int32_t>& edges, std::size_t from, std::size_t to,
                              auto&& input_of) {
    Route& r = routes[kind];
    r.first_input = static_cast<std::uint32_t>(inputs_.size());
    for (std::size_t k = from; k < to; ++k) inputs_.push_back(input_of(static_cast<std::size_t>(edges[k])));
    r.last_input = static_cast<std::uint32_t>(inputs_.size());
  };
  const auto activation = [&](std::size_t e) {
    const std::size_t before = order.edges[e].from.index();
    return Input{forward(before), crosses(before) ? costs.activation[e].value : 0};
  };
  const auto gradient = [&](std::size_t e) {
    const std::size_t after = order.edges[e].to.index();
    return Input{backward(after), crosses(after) ? costs.gradient[e].value : 0};
  };
  add_inputs(0, edges_in_, first_in_[s], first_in_[s + 1], activation);
  add_inputs(1, edges_out_, first_out_[s], first_out_[s + 1], gradient);
  add_inputs(2, edges_out_, first_out_[s], first_out_[s + 1], gradient);
  for (Route* r = routes; r < routes + kKinds; ++r) {
    const bool has_input = r->first_input < r->last_input;
    r->input = has_input ? inputs_[r->first_input].row : r->own;
    r->transfer = has_input ? inputs_[r->first_input].transfer : 0;
  }
}

Result<const Evaluation*> Evaluator::evaluate(const Order& order, const OrderCosts& costs, Discipline discipline) {
  const bool chain = prepare(order, costs);
  bool finished = false;
  if (discipline == Discipline::Eager) {
    finished = chain ? Run<Discipline::Eager, true>{*this, order}() : Run<Discipline::Eager, false>{*this, order}();
  } else {
    finished = chain ? Run<Discipline::Rendezvous, true>{*this, order}() : Run<Discipline::Rendezvous, false>{*this, order}();
  }
  if (!finished) return fail(deadlock(order));

  evaluation_.makespan = evaluation_.span = Nanoseconds();
  evaluation_.first_start.resize(ranks_.size());
  evaluation_.last_end.resize(ranks_.size());
  evaluation_.busy.resize(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Nanoseconds start(std::max<std::int64_t>(ranks_[r].first_start, 0));
    const Nanoseconds end(ranks_[r].clock);
    evaluation_.first_start[r] = start;
    evaluation_.last_end[r] = end;
    evaluation_.busy[r] = Nanoseconds(ranks_[r].busy);
    evaluation_.makespan = std::max(evaluation_.makespan, end);
    evaluation_.span = std::max(evaluation_.span, end - start);
  }
  return &evaluation_;
}

// Follows who waits for whom from the first stuck rank until a rank comes up again (a deadlock) or the operation waited
// for is in no list.
Error Evaluator::deadlock(const Order& order) const {
  const std::size_t row = static_cast<std::size_t>(order.microbatches) * static_cast<std::size_t>(order.slices);
  std::vector<std::string> story;
  std::vector<std::size_t> told(ranks_.size(), kNone);  // by rank: its place in the story
  std::size_t rank = 0;
  while (ranks_[rank].next == ranks_[rank].end) ++rank;
  while (told[rank] == kNone) {
    told[rank] = story.size();
    const RankState& state = ranks_[rank];
    const std::size_t copy = state.waits_for / row / 2;
    const bool is_backward_row = state.waits_for / row % 2 == 1;
    OrderOp wanted;
    wanted.op = is_backward_row ? Op::B : Op::F;
    wanted.stage = static_cast<std::uint16_t>(copy % static_cast<std::size_t>(order.stages));
    wanted.direction = copy >= static_cast<std::size_t>(order.stages) ? 1 : 0;
    wanted.microbatch = static_cast<std::uint32_t>(state.waits_for % row / static_cast<std::size_t>(order.slices));
    wanted.slice = static_cast<std::uint8_t>(state.waits_for % static_cast<std::size_t>(order.slices));
    const auto is_wanted = [&](const OrderOp& op) {
      const bool same_kind = op.op == Op::F ? !is_backward_row : is_backward(op.op) && is_backward_row;
      return same_kind && op.stage == wanted.stage && op.direction == wanted.direction &&
             op.microbatch == wanted.microbatch && op.slice == wanted.slice;
    };
    const std::size_t holder = static_cast<std::size_t>(order.rank_of[copy]);
    const auto begin = order.ops.begin();
    const auto found = std::find_if(begin + static_cast<std::ptrdiff_t>(ranks_[holder].next),
                                    begin + static_cast<std::ptrdiff_t>(ranks_[holder].end), is_wanted);
    const std::string waits = fmt::format("rank {} at {} waits for ", rank, text(order.ops[state.next]));
    if (found == begin + static_cast<std::ptrdiff_t>(ranks_[holder].end)) {
      story.push_back(waits + fmt::format("{}, which is not in the list of rank {}", text(wanted), holder));
      return {.code = ErrorCode::Infeasible, .message = fmt::format("the order stops: {}", fmt::join(story, "; ")),
              .hint = "every stage, microbatch and slice needs its F and its BF or B on the rank of the stage"};
    }
    story.push_back(waits + fmt::format("{}, which rank {} runs later", text(*found), holder));
    rank = holder;
  }
  const auto cycle = story.begin() + static_cast<std::ptrdiff_t>(told[rank]);
  return {.code = ErrorCode::Infeasible, .message = fmt::format("the order deadlocks: {}", fmt::join(cycle, story.end(), "; ")),
          .hint = "one of these lists must run what it waits for, or is waited for, in another order"};
}

}  // namespace penstock
