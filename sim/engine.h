#pragma once

// Runs a Program on a virtual clock: streams of a rank concurrently, each in order, transfers by
// the times of their recipes, memory by the program's own buffers. Deterministic: events are
// ordered by (time, sequence number), time is integer nanoseconds.
//
//   compute, LOAD, LOSS, STEP …   take the length of their recipe
//   WAIT                          takes no time and leaves no span
//   SEND, RECV                    a transfer lasts as long as the SEND's recipe
//     eager        SEND posts at once; RECV ends when the message has arrived (at the posting plus
//                  the transfer) or when it is reached, whichever is later
//     rendezvous   the transfer starts once the SEND and the RECV have both been reached by their
//                  streams, and ends both
//
//   ALLREDUCE, GATHER …           starts once all members of the group have reached their call, and
//                                 lasts as long as its recipe
//
// Where the program has contention, compute, and transfers and collectives among ranks of one host,
// last longer the more else runs there (core/contention.h, sim/host_sharing.h). An eager transfer
// does not: it takes its time, and slows nothing.
//
// A RECV's span is the part of the transfer that it saw; its waiting before that, and a
// collective's, is no span.

#include <cstdint>

#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"
#include "core/transfer.h"

namespace penstock {

struct EngineOptions {
  Discipline discipline = Discipline::Rendezvous;
  // Prologue, then the body as often as it takes for so many steps, then epilogue.
  std::int32_t steps = 1;
  bool memory_counters = true;
  bool contention = true;  // false: every rank runs as if it were alone, whatever the program says
  // False: only the first and the last span of each step of each compute stream, and no flows.
  bool spans = true;
};

struct EngineResult {
  // A track a stream, "compute", "send 0>1" (ranks) or "collective"; a counter "memory" a rank.
  Timeline timeline;
  std::int64_t instructions = 0;  // that ran
  std::int64_t events = 0;        // that the queue went through
};

// The program must have passed penstock::check. An operation or a grouping that the engine does not
// know is refused by name (Unavailable), and a program that stops making progress is an error that
// says who waits for what (Infeasible). O(instructions · log streams), with contention
// O(instructions · what runs at once on a host).
Result<EngineResult> simulate(const Program& program, const EngineOptions& options = {});

}  // namespace penstock
