#include "sim/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/time_guard.h"

namespace penstock {
namespace {

// Marks in finish_ before an operation has run: kNobody, or kFirstMark - r if rank r waits for it;
// who waited before r is in next_waiter_[r]. A rank runs its list until it meets an input that is
// not there, leaves its mark in that place and is put back on the stack by whoever fills it. So
// there is no queue, and no operation is tried twice for the same input.
constexpr std::int64_t kNobody = -1;
constexpr std::int64_t kFirstMark = -2;

constexpr std::size_t kAhead = 16;  // entries: two cache lines

// Kinds of routes: F, BF, B, W, R as in Op, then STEP.
constexpr std::size_t kKinds = 6;
constexpr std::size_t kStepKind = 5;
constexpr std::size_t kind_of(Op op) {
  return static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::F);
}
static_assert(kind_of(Op::BF) == 1 && kind_of(Op::B) == 2 && kind_of(Op::W) == 3 &&
              kind_of(Op::R) == 4);

// Entries from one row of finish_ to the next: an odd number of cache lines, lest rows of 2^k
// microbatches share one set.
std::size_t row_size(const Order& order) {
  const std::size_t used =
      static_cast<std::size_t>(order.microbatches) * static_cast<std::size_t>(order.slices);
  return ((used + 7) / 8 | 1) * 8;
}
std::size_t index_of(const Order& order, const OrderOp& op) {
  return op.microbatch * static_cast<std::size_t>(order.slices) + op.slice;
}
std::size_t copy_of(const Order& order, const OrderOp& op) {
  return op.direction * static_cast<std::size_t>(order.stages) + op.stage;
}

// Edge numbers grouped by stage, ascending within each: a counting sort.
template <class End>
void group_edges(const Order& order, End end, std::vector<std::int32_t>& edges,
                 std::vector<std::size_t>& first) {
  first.assign(static_cast<std::size_t>(order.stages) + 1, 0);
  for (const StageEdge& edge : order.edges) ++first[end(edge).index()];
  for (std::size_t s = 1; s < first.size(); ++s) first[s] += first[s - 1];
  edges.resize(order.edges.size());
  for (std::size_t e = order.edges.size(); e-- > 0;)
    edges[--first[end(order.edges[e]).index()]] = static_cast<std::int32_t>(e);
}

}  // namespace

double Evaluation::bubble_fraction() const {
  if (makespan.value == 0) return 0;
  const Nanoseconds most = *std::max_element(busy.begin(), busy.end());
  return 1 - static_cast<double>(most.value) / static_cast<double>(makespan.value);
}

// The loop. Plain: a chain of stages in one direction, one slice, and nothing to record; then an
// operation has one input and a place in finish_ one waiter. Fused operations and the first one of
// each rank take the general way in any case.
template <Discipline kDiscipline, bool kPlain>
class Evaluator::Run {
 public:
  Run(Evaluator& evaluator, const Order& order) : e_(evaluator), order_(order) {}

  void operator()() {
    const OrderOp* const ops = order_.ops.data();
    while (ready_count_ > 0) {
      const std::int32_t number = e_.ready_[--ready_count_];
      RankState rank = e_.ranks_[static_cast<std::size_t>(number)];
      while (rank.next < rank.end) {
        const OrderOp& op = ops[rank.next];
        const std::size_t kind = kind_of(op.op);
        if (!kPlain || op.fused || kind >= kStepKind || rank.first_start < 0) [[unlikely]] {
          std::int64_t* const place = run_group(rank);
          if (place == nullptr) continue;
          wait(number, place);
          break;
        }
        const std::size_t i = op.microbatch;
        PENSTOCK_CHECK(i < microbatches_ && op.stage < stages_, "an operation is out of range");
        const Route& r = routes_[op.stage * kKinds + kind];
        // The lists and rows of all ranks are more streams than the hardware follows.
        __builtin_prefetch(&op + kAhead);
        __builtin_prefetch(r.input + i + kAhead);
        __builtin_prefetch(r.output + i + kAhead, 1);
        const std::int64_t own = r.own[i];
        const std::int64_t input = r.input[i];
        if ((own | input) < 0) [[unlikely]] {
          wait(number, (own < 0 ? r.own : r.input) + i);
          break;
        }
        rank.clock = arrive(rank.clock, input, r.transfer) + r.duration;
        rank.busy += r.duration;
        ++rank.next;
        publish(r.output + i, rank.clock);
      }
      e_.ranks_[static_cast<std::size_t>(number)] = rank;
    }
  }

 private:
  // When a rank that is free at `clock` has one more input. Its transfer ends at or after the one
  // before on its edge, as the rank waited for that too, so edges need no clock of their own.
  static std::int64_t arrive(std::int64_t clock, std::int64_t made, std::int64_t transfer) {
    if constexpr (kDiscipline == Discipline::Eager) return std::max(clock, made + transfer);
    return std::max(clock, made) + transfer;
  }

  void publish(std::int64_t* place, std::int64_t end) {
    std::int64_t mark = *place;
    *place = end;
    while (mark <= kFirstMark) {
      const std::int64_t waiter = kFirstMark - mark;
      e_.ready_[ready_count_++] = static_cast<std::int32_t>(waiter);
      if constexpr (kPlain) break;
      mark = e_.next_waiter_[static_cast<std::size_t>(waiter)];
    }
  }

  void wait(std::int32_t rank, std::int64_t* place) {
    if constexpr (!kPlain) e_.next_waiter_[static_cast<std::size_t>(rank)] = *place;
    *place = kFirstMark - rank;
  }

  // Runs the rank's next operation and those fused with it; if one of them cannot start yet, the
  // place of what it needs.
  std::int64_t* run_group(RankState& rank) {
    const OrderOp* const first = &order_.ops[rank.next];
    const OrderOp* const end_of_list = order_.ops.data() + rank.end;
    const OrderOp* last = first;
    while (last->fused && last + 1 < end_of_list) ++last;
    for (const OrderOp* op = first; op <= last; ++op) {
      if (std::int64_t* const place = e_.missing(order_, *op)) return place;
    }
    std::int64_t start = rank.clock;
    std::int64_t duration = 0;
    for (const OrderOp* op = first; op <= last; ++op) {
      for (const Input& input : e_.inputs(order_, *op)) {
        start = arrive(start, input.row[index_of(order_, *op)], input.transfer);
      }
      duration += e_.route(order_, *op).duration;
    }
    rank.clock = start + duration;
    rank.busy += duration;
    if (rank.first_start < 0) rank.first_start = start;
    for (const OrderOp* op = first; op <= last; ++op, ++rank.next) {
      publish(e_.route(order_, *op).output + index_of(order_, *op), rank.clock);
      if (!e_.record) continue;
      e_.starts[rank.next] = Nanoseconds(start);
      e_.ends[rank.next] = Nanoseconds(rank.clock);
    }
    return nullptr;
  }

  Evaluator& e_;
  const Order& order_;
  const Route* const routes_ = e_.routes_.data();
  const std::size_t stages_ = static_cast<std::size_t>(order_.stages);
  const std::size_t microbatches_ = static_cast<std::size_t>(order_.microbatches);
  std::size_t ready_count_ = e_.ready_.size();
};

const Evaluator::Route& Evaluator::route(const Order& order, const OrderOp& op) const {
  const std::size_t kind = op.op == Op::Step ? kStepKind : kind_of(op.op);
  PENSTOCK_CHECK(
      kind < kKinds && op.stage < order.stages && copy_of(order, op) < order.rank_of.size(),
      "an operation is out of range");
  PENSTOCK_CHECK(
      static_cast<std::int64_t>(op.microbatch) < order.microbatches && op.slice < order.slices,
      "an operation is out of range");
  return routes_[copy_of(order, op) * kKinds + kind];
}

std::span<const Evaluator::Input> Evaluator::inputs(const Order& order, const OrderOp& op) const {
  if (op.op != Op::F && !is_backward(op.op)) return {};
  const std::size_t* const first = &first_input_[2 * copy_of(order, op) + (op.op == Op::F ? 0 : 1)];
  return std::span(inputs_).subspan(first[0], first[1] - first[0]);
}

// The place of the first operation that must have run before `op` can start and has not, or
// nullptr.
std::int64_t* Evaluator::missing(const Order& order, const OrderOp& op) const {
  const Route& r = route(order, op);
  const std::size_t i = index_of(order, op);
  if (r.own[i] < 0) return r.own + i;
  std::int64_t* const place = r.output + i;
  if (op.op == Op::F && op.slice > 0 && place[-1] < 0) return place - 1;
  if (is_backward(op.op) && op.slice + 1 < order.slices && place[1] < 0) return place + 1;
  for (const Input& input : inputs(order, op)) {
    if (input.row[i] < 0) return input.row + i;
  }
  return nullptr;
}

// Rows of finish_: forward then backward of each copy of each stage, one row of zeros (for what
// needs nothing) and one that is written and never read (of W, R and STEP). True if the order is
// plain, as said above.
bool Evaluator::prepare(const Order& order, const OrderCosts& costs) {
  const std::size_t stages = static_cast<std::size_t>(order.stages);
  const std::size_t ranks = static_cast<std::size_t>(order.ranks);
  const std::size_t copies = order.rank_of.size();
  PENSTOCK_CHECK(order.first.size() == ranks + 1 && order.first.back() == order.ops.size(),
                 "lists of an order");
  PENSTOCK_CHECK(copies == stages || copies == 2 * stages, "placement of an order");
  for (const auto* by_stage : {&costs.forward, &costs.backward_input, &costs.backward_weight,
                               &costs.recompute, &costs.step}) {
    PENSTOCK_CHECK(by_stage->size() == stages, "costs are of another order: one a stage");
  }
  PENSTOCK_CHECK(
      costs.activation.size() == order.edges.size() && costs.gradient.size() == order.edges.size(),
      "costs are of another order: one an edge");

  group_edges(
      order, [](const StageEdge& e) { return e.to; }, edges_in_, first_in_);
  group_edges(
      order, [](const StageEdge& e) { return e.from; }, edges_out_, first_out_);
  finish_.assign((2 * copies + 1) * row_size(order), kNobody);
  finish_.resize((2 * copies + 2) * row_size(order), 0);
  routes_.resize(copies * kKinds);
  inputs_.clear();
  first_input_.clear();
  bool plain = order.slices == 1 && copies == stages && !record;
  for (std::size_t s = 0; s < stages; ++s) {
    plain = plain && first_in_[s + 1] - first_in_[s] <= 1 && first_out_[s + 1] - first_out_[s] <= 1;
  }
  for (std::size_t copy = 0; copy < copies; ++copy)
    prepare_stage(order, costs, copy / stages, copy % stages);
  first_input_.push_back(inputs_.size());

  ranks_.resize(ranks);
  next_waiter_.resize(ranks);
  ready_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    ranks_[r] = RankState{.next = order.first[r], .end = order.first[r + 1]};
    ready_[ranks - 1 - r] = static_cast<std::int32_t>(r);
  }
  if (record) {
    starts.assign(order.ops.size(), Nanoseconds());
    ends.assign(order.ops.size(), Nanoseconds());
  }
  return plain;
}

void Evaluator::prepare_stage(const Order& order, const OrderCosts& costs, std::size_t direction,
                              std::size_t stage) {
  const std::size_t first_copy = direction * static_cast<std::size_t>(order.stages);
  const auto forward = [&](std::size_t s) {
    return finish_.data() + 2 * (first_copy + s) * row_size(order);
  };
  const auto backward = [&](std::size_t s) { return forward(s) + row_size(order); };
  std::int64_t* const unread = finish_.data() + 2 * order.rank_of.size() * row_size(order);
  std::int64_t* const zeros = unread + row_size(order);
  const auto transfer = [&](std::size_t s, Nanoseconds time) {
    return order.rank_of[first_copy + s] == order.rank_of[first_copy + stage] ? 0 : time.value;
  };

  const std::size_t first_forward = inputs_.size();
  first_input_.push_back(first_forward);
  for (std::size_t k = first_in_[stage]; k < first_in_[stage + 1]; ++k) {
    const std::size_t edge = static_cast<std::size_t>(edges_in_[k]);
    const std::size_t before = order.edges[edge].from.index();
    inputs_.push_back({forward(before), transfer(before, costs.activation[edge])});
  }
  const std::size_t first_backward = inputs_.size();
  first_input_.push_back(first_backward);
  for (std::size_t k = first_out_[stage]; k < first_out_[stage + 1]; ++k) {
    const std::size_t edge = static_cast<std::size_t>(edges_out_[k]);
    const std::size_t after = order.edges[edge].to.index();
    inputs_.push_back({backward(after), transfer(after, costs.gradient[edge])});
  }
  const Input activation =
      first_backward > first_forward ? inputs_[first_forward] : Input{zeros, 0};
  const Input gradient =
      inputs_.size() > first_backward ? inputs_[first_backward] : Input{forward(stage), 0};

  const std::int64_t b = costs.backward_input[stage].value;
  const std::int64_t w = costs.backward_weight[stage].value;
  Route* const routes = &routes_[(first_copy + stage) * kKinds];
  routes[kind_of(Op::F)] = {activation.row, activation.row, forward(stage),
                            costs.forward[stage].value, activation.transfer};
  routes[kind_of(Op::BF)] = {gradient.row, forward(stage), backward(stage), b + w,
                             gradient.transfer};
  routes[kind_of(Op::B)] = {gradient.row, forward(stage), backward(stage), b, gradient.transfer};
  routes[kind_of(Op::W)] = {backward(stage), backward(stage), unread, w, 0};
  routes[kind_of(Op::R)] = {forward(stage), forward(stage), unread, costs.recompute[stage].value,
                            0};
  routes[kStepKind] = {zeros, zeros, unread, costs.step[stage].value, 0};
}

Result<const Evaluation*> Evaluator::evaluate(const Order& order, const OrderCosts& costs,
                                              Discipline discipline) {
  if (!is_bounded(order, costs))
    return fail(ErrorCode::Infeasible,
                fmt::format("the {} operations of this order may take longer than {}",
                            order.ops.size(), long_time(seconds(kLongestRun))),
                "are its times right?");
  const bool plain = prepare(order, costs);
  if (discipline == Discipline::Eager) {
    plain ? Run<Discipline::Eager, true>(*this, order)()
          : Run<Discipline::Eager, false>(*this, order)();
  } else {
    plain ? Run<Discipline::Rendezvous, true>(*this, order)()
          : Run<Discipline::Rendezvous, false>(*this, order)();
  }

  evaluation_.makespan = evaluation_.span = Nanoseconds();
  evaluation_.first_start.resize(ranks_.size());
  evaluation_.last_end.resize(ranks_.size());
  evaluation_.busy.resize(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].next < ranks_[r].end) return fail(deadlock(order));
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

// Follows who waits for whom from the first stuck rank until a rank comes up again (a deadlock) or
// the operation waited for is in no list.
Error Evaluator::deadlock(const Order& order) const {
  std::vector<std::string> story;
  std::vector<std::size_t> told(ranks_.size(),
                                order.ops.size());  // by rank: its place in the story
  std::size_t rank = 0;
  while (ranks_[rank].next == ranks_[rank].end) ++rank;
  while (told[rank] == order.ops.size()) {
    told[rank] = story.size();
    std::size_t at = ranks_[rank].next;
    while (missing(order, order.ops[at]) == nullptr)
      ++at;  // of a fused group, the one that cannot start
    const OrderOp& stuck = order.ops[at];
    const std::size_t place = static_cast<std::size_t>(missing(order, stuck) - finish_.data());
    const std::size_t row = place / row_size(order);
    const std::size_t holder = static_cast<std::size_t>(order.rank_of[row / 2]);
    const auto is_wanted = [&](const OrderOp& op) {
      return (op.op == Op::F ? row % 2 == 0 : is_backward(op.op) && row % 2 == 1) &&
             copy_of(order, op) == row / 2 && index_of(order, op) == place % row_size(order);
    };
    const auto list_end = order.ops.begin() + static_cast<std::ptrdiff_t>(ranks_[holder].end);
    const auto found = std::find_if(
        order.ops.begin() + static_cast<std::ptrdiff_t>(ranks_[holder].next), list_end, is_wanted);
    if (found == list_end) {
      return {
          .code = ErrorCode::Infeasible,
          .message = fmt::format("the order stops: rank {} at {} waits for {} of stage {}, "
                                 "microbatch {}, slice {}, which "
                                 "is not in the list of rank {}",
                                 rank, text(stuck), row % 2 == 0 ? "F" : "B",
                                 row / 2 % static_cast<std::size_t>(order.stages),
                                 place % row_size(order) / static_cast<std::size_t>(order.slices),
                                 place % static_cast<std::size_t>(order.slices), holder),
          .hint =
              "each stage, microbatch and slice needs its F, and its BF or B, on the rank of the "
              "stage"};
    }
    story.push_back(fmt::format("rank {} at {} waits for {}, which rank {} runs later", rank,
                                text(stuck), text(*found), holder));
    rank = holder;
  }
  return {.code = ErrorCode::Infeasible,
          .message = fmt::format("the order deadlocks: {}",
                                 fmt::join(story.begin() + static_cast<std::ptrdiff_t>(told[rank]),
                                           story.end(), "; ")),
          .hint = "one of these lists must run what it is waited for earlier"};
}

}  // namespace penstock
