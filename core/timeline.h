#pragma once

// What happened when: spans, counters and flows on (rank, lane). The simulator and the executor both produce one, every
// trace reader yields one, and every analysis works on all of them. Spans of one track never overlap.
// File form: penstock.timeline/1 (docs/formats/timeline.md).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/program.h"
#include "core/units.h"

namespace penstock {

struct Track {
  RankId rank;
  std::string lane;  // "compute", "send 0>1", …

  bool operator==(const Track&) const = default;
};

struct Span {
  std::uint32_t track = 0;
  std::int32_t step = 0;  // absolute; key.step is relative to the repetition
  Nanoseconds start, end;
  InstructionKey key;
  EdgeId edge;              // of SEND and RECV: with the key, what tells messages of one microbatch apart
  std::int32_t label = -1;  // Timeline::labels: of foreign traces, without a key; or of work beside the key's instruction

  bool operator==(const Span&) const = default;
};

struct CounterPoint {
  std::uint32_t counter = 0;
  Nanoseconds time;
  std::int64_t value = 0;

  bool operator==(const CounterPoint&) const = default;
};

struct Counter {
  RankId rank;
  std::string name;  // "memory"
  std::string unit;  // "B"

  bool operator==(const Counter&) const = default;
};

struct Flow {
  std::uint32_t from = 0, to = 0;  // spans: a SEND and its RECV

  bool operator==(const Flow&) const = default;
};

enum class Origin : std::uint8_t { Predicted, Measured, Imported };
constexpr auto enum_names(Origin) {
  return std::to_array<std::pair<Origin, std::string_view>>(
      {{Origin::Predicted, "predicted"}, {Origin::Measured, "measured"}, {Origin::Imported, "imported"}});
}

struct Timeline {
  Origin origin = Origin::Predicted;
  std::string name;            // of the program
  std::string plan_digest;     // of the plan it came from, "" if none: predicted and measured are compared only if equal
  std::int32_t ranks = 0;
  std::int32_t warmup_steps = 0;  // leading steps that medians leave out
  std::vector<Track> tracks;
  std::vector<Span> spans;     // by (track, start)
  std::vector<Counter> counters;
  std::vector<CounterPoint> points;
  std::vector<Flow> flows;
  std::vector<std::string> labels;
  std::vector<Bytes> peak_memory, live_peak;  // one a rank, 0 where unknown
  std::vector<double> losses;                 // one a step, of a run
  std::string weights_digest;                 // of a run: hex, over all parameters in declaration order

  bool operator==(const Timeline&) const = default;
};

// The time of a step: from the end of the step before (of the first: from the first start) to the end of its own last span,
// over all ranks; empty where an earlier step outlasts it.
struct StepWindow {
  std::int32_t step = 0;
  Nanoseconds from, to;

  // How much of a span lies within.
  Nanoseconds share(const Span& span) const;
};
// One a step that has spans, in order of steps; each begins where the one before ends. O(spans log steps).
std::vector<StepWindow> step_windows(const Timeline& timeline);
// How long they are: 0 of a step that an earlier one outlasts.
std::vector<Nanoseconds> step_times(const Timeline& timeline);
// Median of step_times after the warm-up steps: the one definition of iteration time (docs/metrics.md). 0 if none is left.
Nanoseconds iteration_time(const Timeline& timeline);

inline constexpr std::string_view kComputeLane = "compute";
inline constexpr std::string_view kCollectiveLane = "collective";
// Whether its rank works rather than waits: what is_busy() of its operation, and all that a foreign trace has. Waiting inside
// RECV, and WAIT, are not.
bool is_busy(const Span& span);
// The instruction whose cost the span is part of: its own; of the squares that a rank sums up for a GATHER of norms, the STEP
// that uses them, with which costs count them. None of work that is no instruction's.
std::optional<InstructionKey> costed_with(const Span& span);

}  // namespace penstock
