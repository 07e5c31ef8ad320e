#pragma once

// penstock.timeline/1 (docs/formats/timeline.md): a timeline as JSON, one row of a few numbers a span.

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/timeline.h"
#include "core/value.h"

namespace penstock {

inline constexpr std::string_view kTimelineSchema = "penstock.timeline/1";

// What comes back has every index within its table, spans in order of (track, start) and none of a track overlapping.
// BadInput names place and remedy.
Result<Timeline> read_timeline(std::string_view text, std::string file_name);
Result<Timeline> read_timeline(const Value& document, std::string file_name);

// Reading gives back an equal timeline, and writing that the same bytes. PENSTOCK_CHECKs that losses are finite.
std::string write_timeline(const Timeline& timeline);

}  // namespace penstock
