#pragma once

// Proves a Program before it runs, or tells why it must not. Rules are numbered as in docs/formats/program.md:
//   tables  every index points into its table: without this nothing else is looked at
//   R1  every (stage, microbatch, slice) has one F and one BF (or one B and one W)   R2  on the rank of its stage's store
//   R3  SENDs and RECVs of an edge pair up, k-th with k-th, equal keys and bytes; every crossing dependency has a pair
//   R4  in-stream order: LOAD < F < LOSS < BF, RECV before use, SEND after its producer (by `after` or in stream)
//   R5  the graph of streams, `after`, and messages is acyclic       R6  members of a group agree on collective order
//   R7a completes with buffered sends                                R7b completes under rendezvous
//   R8  memory: layout and live peak within the limit, buffers live at once disjoint, every use inside a lifetime
//   R9  nothing is used after its release, not even by a transfer still under way
//   R10 one version of the weights a step: STEP after the last gradient, nothing of the step after STEP; the gradients of
//       a stage's copies are added up, each bucket once, after what makes them and before STEP
//   R12 the accumulation tree names each microbatch exactly once, in the order in which the program adds them
//   stores  copies of a stage are alike; each is whole and of one version     keys  the parts of an instruction's name
//   recipes what an instruction is made of is of its kind, and of the size of what it moves
//   R13 makespan ≥ bounds: a property of timelines, checked by tests  R14 monotone in durations: likewise
// Operations that no rule speaks of are reported under "ops". What cannot be judged before another rule holds (the order
// of an instruction that is missing) is left out until it does. A program that hangs even with buffered sends is reported
// once: under R5 if a cycle is the cause, else (a message that never comes) under R7a; R7b then adds nothing.

#include <string>
#include <vector>

#include "core/order.h"
#include "core/program.h"

namespace penstock {

struct Violation {
  std::string rule;                       // "R7b"
  std::string message;                    // the story: which ranks, which instructions, what each waits for
  std::vector<RankId> ranks;
  std::vector<std::string> instructions;  // brief() of those involved, in the order of the story

  bool operator==(const Violation&) const = default;
};

struct CheckOptions {
  bool rendezvous = true;   // R7b
  bool buffered = true;     // R5, R7a
  std::size_t most = 20;    // violations listed before giving up
};

// Empty: proved. O(instructions) time and memory, O(buffers log buffers live at once) for R8.
std::vector<Violation> check(const Program& program, const CheckOptions& options = {});

// Whether there is memory to prove: that of a model. A program without weights, as made of a schedule alone, holds units of
// activation or nothing at all, and what check says of it leaves memory out.
bool proves_memory(const Program& program);

// Rules on an Order alone, before lowering: R1, R2, R10, and R5 (it completes with buffered transfers).
std::vector<Violation> check(const Order& order);

}  // namespace penstock
