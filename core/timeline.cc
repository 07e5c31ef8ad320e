#include "core/timeline.h"

#include <algorithm>
#include <map>

namespace penstock {
namespace {

struct StepEnds {
  Nanoseconds start;                         // of the first span
  std::map<std::int32_t, Nanoseconds> last;  // by step: the end of its last span
};

StepEnds step_ends(const Timeline& timeline) {
  StepEnds ends;
  if (timeline.spans.empty()) return ends;
  ends.start = timeline.spans.front().start;
  for (const Span& span : timeline.spans) {
    ends.start = std::min(ends.start, span.start);
    const auto [at, is_new] = ends.last.emplace(span.step, span.end);
    if (!is_new) at->second = std::max(at->second, span.end);
  }
  return ends;
}

bool is_busy(const Span& span) {
  return span.label >= 0 || is_busy(span.key.op);
}

}  // namespace

std::vector<Nanoseconds> step_times(const Timeline& timeline) {
  const StepEnds ends = step_ends(timeline);
  std::vector<Nanoseconds> times;
  times.reserve(ends.last.size());
  Nanoseconds before = ends.start;
  for (const auto& [step, end] : ends.last) {
    times.push_back(std::max(end, before) - before);
    before = std::max(end, before);
  }
  return times;
}

Nanoseconds iteration_time(const Timeline& timeline) {
  std::vector<Nanoseconds> times = step_times(timeline);
  const auto warmup =
      std::min(times.size(), static_cast<std::size_t>(std::max(0, timeline.warmup_steps)));
  times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(warmup));
  if (times.empty()) return Nanoseconds(0);
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  if (times.size() % 2 == 1) return times[half];
  return Nanoseconds((times[half - 1].value + times[half].value) / 2);
}

std::vector<RankUse> rank_use(const Timeline& timeline) {
  std::vector<RankUse> use(static_cast<std::size_t>(timeline.ranks));
  for (std::size_t rank = 0; rank < use.size(); ++rank)
    use[rank].rank = RankId(static_cast<std::int64_t>(rank));
  const StepEnds ends = step_ends(timeline);
  const auto warmup = static_cast<std::size_t>(std::max(0, timeline.warmup_steps));
  if (ends.last.size() <= warmup) return use;

  Nanoseconds from = ends.start;
  if (warmup > 0)
    from = std::next(ends.last.begin(), static_cast<std::ptrdiff_t>(warmup) - 1)->second;
  Nanoseconds to = from;
  for (const auto& [step, end] : ends.last) to = std::max(to, end);

  // By time, not by step: a rank may begin the next step while another still finishes this one.
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    if (track.lane != kComputeLane || !is_busy(span)) continue;
    const Nanoseconds start = std::max(span.start, from);
    const Nanoseconds end = std::min(span.end, to);
    if (end > start) use[track.rank.index()].busy += end - start;
  }
  for (RankUse& rank : use) {
    rank.idle = to - from - rank.busy;
    if (to > from) rank.bubble_fraction = seconds(rank.idle) / seconds(to - from);
  }
  return use;
}

}  // namespace penstock
