#pragma once

// Runs a Program on a virtual clock: streams of a rank concurrently, each in order, transfers by alpha-beta times, memory
// by the program's own buffers. Deterministic: events are ordered by (time, sequence number), time is integer nanoseconds.

#include <cstdint>

#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"
#include "core/transfer.h"

namespace penstock {

struct EngineOptions {
  Discipline discipline = Discipline::Rendezvous;
  std::int32_t steps = 1;   // prologue, then the body until so many steps are done, then epilogue
  bool memory_counters = true;
  bool spans = true;        // false: only step ends are kept (large programs)
};

struct EngineResult {
  Timeline timeline;
  std::int64_t instructions = 0;
  std::int64_t events = 0;
};

// The program must have passed penstock::check; an operation that the engine does not know is refused by name, and a
// program that stops making progress is an error that says who waits for what.
Result<EngineResult> simulate(const Program& program, const EngineOptions& options = {});

}  // namespace penstock
