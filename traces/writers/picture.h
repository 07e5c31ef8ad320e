#pragma once

// What every picture of a timeline needs to know before it draws: which rows there are, which row a span stands on, and in
// which shade; and where to put the marks of an axis.

#include <cstdint>
#include <string>
#include <vector>

#include "core/timeline.h"
#include "traces/writers/palette.h"

namespace penstock {

// A rank's compute lane comes first, what else it has (transfers, collectives) beneath, in the order of tracks.
struct Lane {
  RankId rank;
  std::string name;      // of the track: "send 0>1"
  bool compute = false;  // drawn tall
  std::int32_t depth = 1;  // rows: spans that overlap (foreign traces have such) stand one beneath the other
};

struct Picture {
  std::int32_t step = 0;            // that is drawn
  Nanoseconds start, end;           // of its spans; both 0 where there are none
  std::vector<Lane> lanes;          // by rank; those that have a span of the step, and every rank's compute lane
  std::vector<std::size_t> spans;   // indices into Timeline::spans, by (lane, start)
  std::vector<std::size_t> lane;    // one a drawn span: index into lanes
  std::vector<std::int32_t> row;    // one a drawn span: within its lane, below Lane::depth
  std::vector<std::int32_t> shade;  // one a drawn span
  // One a (network, stage, direction) that a rank holds, in that order, at most kMostShades; later ones share the last.
  std::int32_t shades = 1;
};
inline constexpr std::int32_t kMostShades = 8;

inline constexpr std::int32_t kLastStep = -1, kAllSteps = -2;

// O(spans log spans). PENSTOCK_CHECKs that tracks and labels exist.
Picture arrange(const Timeline& timeline, std::int32_t step = kLastStep);

// What to call a span: its instruction with its target, "SEND 0.3 e1"; of foreign spans the label.
std::string span_name(const Timeline& timeline, const Span& span);
// The same where there is little room: "F3", "3"; "" for what has no microbatch. From long to short.
std::vector<std::string> short_names(const Span& span);

// Foreign spans are painted as Other.
Paint paint_of_span(const Span& span);

// Marks at 1, 2 or 5 times a power of ten of one unit, at most `most` of them and the first at 0: fewer where the axis is
// short. Bare: times are in a unit of the user's own, 1e9 to one, and the labels say none.
struct Tick {
  Nanoseconds at;
  std::string label;  // "2.5 ms"
};
std::vector<Tick> ticks(Nanoseconds length, std::int32_t most, bool bare = false);

// For people: as text(Nanoseconds), or the bare number: "33".
std::string time_text(Nanoseconds time, bool bare);

}  // namespace penstock
