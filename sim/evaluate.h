#pragma once

// The makespan of an Order: static lists, no contention, no allocation per call. This is what a
// search runs thousands of times; sim/engine gives the same times for the lowered program (equal to
// the nanosecond, tests/properties).
//
// Every rank runs its list in order. An operation starts when its rank is free and its inputs are
// there:
//
//   F(s)      after F of each stage before s in the stage graph
//   BF, B(s)  after F(s), and BF or B of each stage after s
//   W(s)      after B(s)
//   R(s)      after F(s)
//   STEP      where it stands in the list
//   slices    F ascending, B descending
//
// Inputs from another rank arrive by transfers (core/transfer.h), those from the same rank at once.
// Under rendezvous a rank receives its inputs one after the other, by edge number, before the
// operation starts; under both disciplines transfers take no compute time. Fused operations start
// together, when the inputs of all are there, and last the sum.

#include <cstdint>
#include <span>
#include <vector>

#include "core/order.h"
#include "core/result.h"
#include "core/transfer.h"
#include "core/units.h"

namespace penstock {

struct Evaluation {
  Nanoseconds makespan;  // latest end, from time 0
  Nanoseconds span;      // largest last end minus first start of one rank
  // One a rank; of computation, 0 where a list is empty.
  std::vector<Nanoseconds> first_start, last_end, busy;

  // 1 - largest busy time of a rank / makespan; 0 for an empty order.
  double bubble_fraction() const;
};

// Keeps its scratch memory between calls (16 bytes for each stage, microbatch and slice). One
// thread at a time.
class Evaluator {
 public:
  // O(operations). The result is valid until the next call. Fails (Infeasible) with the story if
  // the order deadlocks or an operation needs one that is in no list. The order's indices must be
  // in range (rule R2 of core/program_check).
  //
  // Messages of one edge between two ranks are taken to be used in the order in which they are
  // made, as rule R3 of core/program_check demands of the lowered program.
  Result<const Evaluation*> evaluate(const Order& order, const OrderCosts& costs,
                                     Discipline discipline = Discipline::Eager);

  // When `record` is set, start and end of operation i of Order::ops of the last call.
  bool record = false;
  std::vector<Nanoseconds> starts, ends;

 private:
  // What an operation of one kind on one stage reads and writes: rows of finish_, of which the
  // operation of microbatch i and slice l uses entry i * slices + l.
  struct Route {
    std::int64_t* input = nullptr;  // the first input
    std::int64_t* own = nullptr;    // what must have run on the same stage before
    std::int64_t* output = nullptr;
    std::int64_t duration = 0;
    std::int64_t transfer = 0;  // of the first input
  };
  struct Input {
    std::int64_t* row = nullptr;
    std::int64_t transfer = 0;
  };
  struct RankState {
    std::size_t next = 0, end = 0;  // of Order::ops
    std::int64_t clock = 0, first_start = -1, busy = 0;
  };
  template <Discipline kDiscipline, bool kPlain>
  class Run;

  bool prepare(const Order& order, const OrderCosts& costs);
  void prepare_stage(const Order& order, const OrderCosts& costs, std::size_t direction,
                     std::size_t stage);
  const Route& route(const Order& order, const OrderOp& op) const;
  std::span<const Input> inputs(const Order& order, const OrderOp& op) const;
  std::int64_t* missing(const Order& order, const OrderOp& op) const;
  Error deadlock(const Order& order) const;

  Evaluation evaluation_;
  // By row: when the operation ended; before that a mark, see evaluate.cc.
  std::vector<std::int64_t> finish_;
  std::vector<Route> routes_;             // [direction][stage][kind]
  std::vector<Input> inputs_;             // of F, then of BF and B, of each copy of each stage
  std::vector<std::size_t> first_input_;  // two a copy of a stage, + 1
  // Edge numbers by the stage they enter, by the stage they leave.
  std::vector<std::int32_t> edges_in_, edges_out_;
  std::vector<std::size_t> first_in_, first_out_;  // stages + 1 offsets
  std::vector<RankState> ranks_;
  std::vector<std::int32_t> ready_;  // a stack of ranks that can go on, each at most once
  std::vector<std::int64_t> next_waiter_;
};

}  // namespace penstock
