#pragma once

// The exact division of a list of layers into p contiguous, non-empty stages, stage s on rank s,
// that minimises the longest stage under a memory limit for each rank (the chain-on-chain problem
// of Bokhari 1988, with costs and limits that depend on the position, as in PipeDream's
// partitioner, Narayanan et al., SOSP 2019, section 3.1).
//
//   time of a stage    of a step of m microbatches: max(m·t + update, before + m·t), as a step
//                      lasts at least as long as its rank works, and as the pipeline fills up to
//                      it, works, and drains.
//     t                its load, forward, loss and backwards of one microbatch, and the messages it
//                      waits for: one of all activations that come in, one of all gradients that
//                      come back
//     before           the t of the layers before it, without messages
//
// Modelling choices: under rendezvous a rank waits for its messages one after the other; where
// tensors skip stages the real messages are several, and only their bytes are counted; and every
// layer is taken to wait for all before it.
//
//   memory of a stage  at least weights, gradients, optimizer state, workspace, and the larger of
//     K·(stash + data + sent)             before the first gradient, after K forwards: it confirms
//                                         the first activations, so all wait in send buffers yet
//     P·(stash + data) + sent + received  in the first backward after P activations were kept
//
// which is never more than core/liveness' live peak, and near it.
//
// The least bottleneck; of those divisions the least of the largest memory; of those the
// lexicographically smallest ends. Three passes over ranges and p positions: O(n²·p) time at worst.
// Ranges are grown from each first layer only until they take longer than an estimate of the
// optimum, doubled should that leave nothing, and at each position until they outgrow its limit, so
// that usually each pass looks at about n/p ends: O(n²). O(n·p) memory.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/order.h"
#include "core/result.h"
#include "models/costs/cost_table.h"
#include "planner/partition/stage_figures.h"

namespace penstock {

// What the order of a schedule makes a rank keep, in microbatches.
struct RankDemand {
  std::int32_t peak = 1;             // P: activations kept at most (until the weight gradient)
  std::int32_t before_backward = 1;  // K: forwards before the first backward

  bool operator==(const RankDemand&) const = default;
};
// One a rank; the order has one stage a rank. O(operations).
std::vector<RankDemand> rank_demands(const Order& order);

// A stage whose real layout was found not to fit although its least memory did.
struct RefusedStage {
  std::int32_t stage, first, end;
  Bytes excess;
};

struct DivisionProblem {
  std::vector<RankDemand> demands;  // one a stage: their number is p
  std::vector<Bytes> limits;        // likewise; 0: none
  std::vector<Bytes>
      reserved;  // likewise, or empty: kept free below the limit, for what least_memory cannot see
  std::vector<Hop> from_previous;  // [s]: from stage s - 1 to s; [0] is not read
  std::vector<Hop> from_next;      // [s]: from stage s + 1 to s; [p - 1] is not read
  std::int64_t microbatches = 1;   // a step
  bool counts_fill = true;        // false: a stage takes m·t + update; balance alone
  std::int64_t optimizer_states = 0;
  std::vector<RefusedStage> refused;
  std::stop_token stop;
};

Nanoseconds stage_time(const StageFigures& figures, const DivisionProblem& problem,
                       std::int32_t stage);
Bytes least_memory(const StageFigures& figures, const DivisionProblem& problem, std::int32_t stage);

struct Division {
  std::vector<std::int32_t> ends;  // stage s is the layers [ends[s - 1], ends[s])
  Nanoseconds bottleneck;
  Bytes memory;  // the largest least_memory of a stage
};

// The best division, or nothing if none fits, or once `stop` is asked for. 1 <= p <= layers of the range (PENSTOCK_CHECK).
std::optional<Division> divide(StageGrower& range, const DivisionProblem& problem);

// Where no division fits: of the one whose largest excess over a limit is least, a stage that lacks
// so much.
struct Shortage {
  std::int32_t stage = 0, first = 0, end = 0;
  Bytes excess;
};
Shortage shortage(StageGrower& range, const DivisionProblem& problem);

}  // namespace penstock
