#pragma once

// Lower bounds on the iteration time, one idea a function. They hold for every plan of this space:
//
//   the layers in contiguous stages, one a rank, on at most `ranks` ranks; m microbatches of given
//   layer times a step; on each rank forwards and full backwards of its stage in any order, then
//   its update; steps back to back, F of the next step after the update of the same stage.
//   Transfers are free here.
//
// and for the period of its steady state, the iteration time of the engine. T = F + BF of a layer,
// where F holds its load and loss too. Proofs stand with each function.

#include <vector>

#include "core/plan.h"
#include "core/workload.h"

namespace penstock {

struct BoundProblem {
  const Network* network;
  const std::vector<StageTimes>* layers;  // one a layer
  std::int32_t ranks;
  std::int64_t microbatches;
};

// "work": each rank works off its stage's m microbatches and its update within a period, and the
// busiest of r ranks does at least the r-th part of all work:
//
//   (m·ΣT + Σ step) / ranks
//
// O(n).
Bound work_bound(const BoundProblem& problem);

// "longest layer": the rank that holds it does at least that:  max over l of m·T_l + step_l. O(n).
Bound longest_layer_bound(const BoundProblem& problem);

// "fill and drain": a step can begin when the update of layer 0 is over. From there, before
// anything of layer l runs, one microbatch has gone forward along every chain of layers from 0 to
// l; then its rank does m·T_l, of which a backward comes last, after which that microbatch goes
// backward along every such chain; then layer 0 is updated and the next step begins:
//
//   max over l that depend on layer 0:  head(l) + m·T_l + tail(l) + step_0
//
// head and tail: the longest chain from 0 to before l, by F and by BF. (Chains inside one stage run
// inside its F and BF, so they take as long there.) O(n + inputs).
Bound fill_and_drain_bound(const BoundProblem& problem);

// "division": the same two arguments for stages instead of layers. A stage S takes
//
//   max(m·T(S) + step(S), head(S) + m·T(S) + tail(S) + step_0)
//
// head(S) the longest chain from layer 0 to an input from outside S, tail(S) likewise by BF; the
// second only if S depends on layer 0 and does not hold it. No division's iteration is shorter than
// its longest stage, and the least of that over divisions is found by dynamic programming. At least
// as large as the other three. O(n²·ranks).
Bound division_bound(const BoundProblem& problem);

}  // namespace penstock
