#pragma once

// Order + Plan -> Program: inserts transfers, loads, losses, updates and waits, makes the tables,
// assigns memory.
//
// Rank's compute stream, for each operation of its list,
//
//   [RECV by edge] [LOAD] F [LOSS]   |   [R] [RECV by edge] BF (or B)   |   W   |   STEP
//
// then a WAIT for the last SEND of each outgoing edge. Each outgoing edge has a stream of its own
// whose SENDs wait (`after`) for the operation that produced them, so a sender goes on computing
// while its receiver is late; each edge is in order, hence the program finishes under strict
// rendezvous whenever the order itself can be run (program_check R7b).
//
// Tables. Edges: activations first, in the plan's order, then the gradients, likewise; stages of
// one rank need none. Recipes: one for each (stage, operation) that occurs and one for each edge.
// Stores: one a stage copy, gradients added in the order the rank computes them. Buffers: a rank's
// weights, gradients, optimizer state (where there is any) by stage and one workspace, as large as
// its largest stage's; then, in the order of its list, with F the stash, the data where sources
// enter and the send buffers, with BF the receive buffers of gradients and the send buffers of
// gradients. (A received activation goes straight into the stash.)
//
// Example, 1f1b, 2 stages, 2 microbatches; edge 0 carries activations to stage 1, edge 1 gradients
// back to stage 0:
//
//   rank 0  compute  LOAD 0.0, F 0.0, LOAD 0.1, F 0.1, RECV 0.0 e1, BF 0.0, RECV 0.1 e1, BF 0.1,
//                    STEP 0, WAIT (for SEND 0.1 e0)
//           send e0  SEND 0.0 (after F 0.0), SEND 0.1 (after F 0.1)
//   rank 1  compute  RECV 1.0 e0, LOAD 1.0, F 1.0, LOSS 1.0, BF 1.0, RECV 1.1 e0, ..., BF 1.1,
//                    STEP 1, WAIT (for SEND 1.1 e1)
//           send e1  SEND 1.0 (after BF 1.0), SEND 1.1 (after BF 1.1)

#include "core/order.h"
#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"

namespace penstock {

// The plan's own schedule with a STEP of each stage. Fails (Infeasible) where the schedule does not
// admit the plan's shape and for what is not lowered: anything but ordinary training, several stages on a rank, tensor
// parallelism; (BadInput) where the plan's bytes are not those of its layers.
//
// Replicas (core/replicas.h): each copy of a stage has a rank and a list of its own (planner/copy_lists.h), with edges
// between copies (planner/copy_edges.h). The direction of a key counts copies. The last backward of a replicated stage is
// cut into parts, one a bucket of gradients (planner/stage_buckets.h; slice counts parts and buckets), and on a stream of
// their own ALLREDUCEs follow the parts that complete them; STEP waits for the last. 2:1, batch split, two buckets:
//
//   rank 0  compute     LOAD 0.0, F 0.0, ..., RECV 0.1 e2, BF 0.1 (part 0), BF 0.1.1 (part 1), STEP 0, WAIT
//           send e0     SEND 0.0 (samples of copy 0), SEND 0.1
//           collective  ALLREDUCE g0 (after part 0), ALLREDUCE g1 (after part 1)
//   rank 1              the same with @1, edge 1 and edge 3
//   rank 2  compute     RECV 1.0 e0, RECV 1.0 e1, F 1.0, LOSS 1.0, BF 1.0, ...
Result<Program> lower(const Plan& plan);

// The same for an order that is at hand, without replicas: of the plan's stages, placement and microbatches. Its
// stage graph is the plan's edges, whatever Order::edges says. STEPs are those in the order.
Result<Program> lower(const Order& order, const Plan& plan);

// A bare schedule without a workload: recipes from `costs`, messages of `bytes`, no memory but one
// byte an activation. Any placement, both directions, slices; PENSTOCK_CHECKs that nothing is
// fused.
Program lower(const Order& order, const OrderCosts& costs, Bytes bytes);

// The order of the plan's schedule, without STEPs, with the R of stages that recompute: stages where
// the plan puts them, Order::edges the plan's. (Infeasible) where the schedule does not admit the shape.
Result<Order> order_of(const Plan& plan);

// The costs of the plan's stages and edges as an Order counts them (load and loss in the forward;
// STEP where asked). `order` is the plan's, as from order_of.
OrderCosts order_costs(const Plan& plan, const Order& order);
OrderCosts order_costs(const std::vector<StageTimes>& stages, const std::vector<PlanEdge>& edges);

// The order with a STEP of each stage appended to its rank.
Order with_steps(Order order);

// The order with R right before each backward (BF or B) of the stages for which `recomputes` holds.
Order with_recompute(Order order, const std::vector<bool>& recomputes);

}  // namespace penstock
