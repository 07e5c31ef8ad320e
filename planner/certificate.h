#pragma once

// Lower bounds on the iteration time of every plan in the named plan space, and a checker that
// re-derives a plan's claims without the solver.

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/program_check.h"
#include "core/result.h"
#include "core/workload.h"
#include "planner/bounds/replica_bound.h"

namespace penstock {

// "work", "longest layer", "fill and drain", "division" (planner/bounds/bounds.h): each holds for
// any division of the layers into contiguous stages, one a rank, on at most `ranks` ranks, and any
// order of forwards and full backwards of m microbatches with these layer times. `layers`: one
// entry a layer of the network.
std::vector<Bound> lower_bounds(const Network& network, const std::vector<StageTimes>& layers,
                                std::int32_t ranks, std::int64_t microbatches);

// That space in words, for Certificate::plan_space.
std::string plan_space(std::int32_t ranks, std::int64_t microbatches, std::int64_t microbatch_size);

// Objective, bounds and gap of a plan whose iteration time is known, over divisions into at most
// `ranks` stages. Leaves binding_constraint and runner_up.
void certify(Plan& plan, std::int32_t ranks);

// The same over plans with replicas (planner/bounds/replica_bound.h).
void certify(Plan& plan, const ReplicaSpace& space);

// What is wrong with what the plan claims: validity, layer times (where costs are derived: those of
// the shapes), stage times (the sums of its layers'), transfer times (where costs are derived: the
// cluster's; between replicas in any case the slowest hop's), memory, iteration time (simulated
// anew), bounds (derived anew from the layer times it carries, for as many ranks as its plan space
// names, at least its own), gap, binding constraint. Empty: the certificate holds. Profiled times
// are taken as given: docs/formats/plan.md says what else is. Rules are named "plan", "times", "memory", "iteration time",
// "certificate", or as in program_check.
std::vector<Violation> verify(const Plan& plan);

}  // namespace penstock
