#include "traces/report/error_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "traces/analysis/step_use.h"
#include "traces/writers/palette.h"

namespace penstock {
namespace {

using Kind = std::pair<std::int32_t, Op>;  // stage, operation
struct Total {
  Nanoseconds time;
  std::int64_t count = 0;
};

// Busy time of a rank by kind of operation, in the median step; counts are of all median steps together.
std::map<Kind, Total> busy_by_kind(const Timeline& timeline, RankId rank) {
  std::map<Kind, Total> out;
  const std::vector<StepWindow> windows = median_steps(timeline);
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    if (track.rank != rank || track.lane != kComputeLane || !is_busy(span)) continue;
    for (const StepWindow& window : windows) {
      const Nanoseconds share = window.share(span);
      if (share.value == 0) continue;
      const InstructionKey key = costed_with(span).value_or(span.key);
      Total& total = out[{key.stage, key.op}];
      total.time += share;
      if (span.step == window.step && span.key == key) ++total.count;
    }
  }
  for (auto& [kind, total] : out) total.time = Nanoseconds(total.time.value / static_cast<std::int64_t>(windows.size()));
  return out;
}

// "how long rank 3, the busiest, waits: 38.2 ms a step instead of 2.02 ms".
std::string what(const ErrorPart& part, RankId rank) {
  const double times = part.count == 0 ? 1 : part.count;
  const auto each = [&](Nanoseconds t) { return text(Nanoseconds(std::llround(static_cast<double>(t.value) / times))); };
  if (!part.op)
    return fmt::format("how long rank {}, the busiest, waits: {} a step instead of {}", rank.value, each(part.measured),
                       each(part.predicted));
  return fmt::format("{} ({}) of stage {} on rank {}, the busiest: on average {} each instead of {}", meaning(paint_of(*part.op)),
                     name(*part.op), part.stage, rank.value, each(part.measured), each(part.predicted));
}

}  // namespace

ErrorSource find_error_source(const Timeline& predicted, const Timeline& measured) {
  const std::vector<RankUse> expected = step_use(predicted), seen = step_use(measured);
  ErrorSource out;
  if (seen.empty() || expected.size() != seen.size()) return out;
  const auto busiest = std::max_element(seen.begin(), seen.end(),
                                        [](const RankUse& a, const RankUse& b) { return a.busy < b.busy; });
  const RankUse& before = expected[static_cast<std::size_t>(busiest - seen.begin())];
  out.rank = busiest->rank;
  const ErrorPart waiting{.op = {},
                          .predicted = before.idle,
                          .measured = busiest->idle};
  out.difference = waiting.measured - waiting.predicted + busiest->busy - before.busy;
  const auto steps = std::max(1.0, static_cast<double>(median_steps(measured).size()));
  std::map<Kind, ErrorPart> parts;
  for (const auto& [kind, total] : busy_by_kind(predicted, out.rank)) {
    parts[kind].predicted = total.time;
  }
  for (const auto& [kind, total] : busy_by_kind(measured, out.rank)) {
    parts[kind].measured = total.time;
    parts[kind].count = static_cast<double>(total.count) / steps;
  }
  out.parts.push_back(waiting);
  for (auto& [kind, part] : parts) {
    part.op = kind.second;
    part.stage = kind.first;
    out.parts.push_back(part);
  }
  // What goes the way of the difference, most first; what goes against it, last.
  const std::int64_t sign = out.difference.value < 0 ? -1 : 1;
  std::stable_sort(out.parts.begin(), out.parts.end(), [&](const ErrorPart& a, const ErrorPart& b) {
    return sign * (a.measured - a.predicted).value > sign * (b.measured - b.predicted).value;
  });
  return out;
}

std::string verdict(const Comparison& comparison, const ErrorSource& source) {
  const std::string times = fmt::format("Predicted {}, measured {} a step", text(comparison.predicted), text(comparison.measured));
  const double percent = 100 * std::abs(comparison.error);
  if (percent < 0.05) return times + ": the prediction is right.";
  const std::string said =
      fmt::format("{}: the prediction is {:.1f} % too {}", times, percent, comparison.error < 0 ? "low" : "high");
  if (source.parts.empty() || source.difference.value == 0) return said + ".";
  const ErrorPart& first = source.parts.front();
  const double share = static_cast<double>((first.measured - first.predicted).value) /
                       static_cast<double>(source.difference.value);
  const std::string part = share >= 1 ? "all of it" : fmt::format("{} of it ({:.0f} %)", share >= 0.5 ? "most" : "the largest part", 100 * share);
  return fmt::format("{}; {} is {}.", said, part, what(first, source.rank));
}

}  // namespace penstock
