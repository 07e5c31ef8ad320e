#include "traces/analysis/step_use.h"

#include <algorithm>

namespace penstock {

std::vector<StepWindow> median_steps(const Timeline& timeline) {
  std::vector<StepWindow> windows = step_windows(timeline);
  const auto warmup = std::min(windows.size(), static_cast<std::size_t>(std::max(0, timeline.warmup_steps)));
  windows.erase(windows.begin(), windows.begin() + static_cast<std::ptrdiff_t>(warmup));
  if (windows.empty()) return windows;
  std::stable_sort(windows.begin(), windows.end(),
                   [](const StepWindow& a, const StepWindow& b) { return a.to - a.from < b.to - b.from; });
  const auto half = static_cast<std::ptrdiff_t>(windows.size() / 2);
  const std::ptrdiff_t first = windows.size() % 2 == 1 ? half : half - 1;
  return {windows.begin() + first, windows.begin() + half + 1};
}

std::vector<RankUse> step_use(const Timeline& timeline) {
  std::vector<RankUse> use(static_cast<std::size_t>(timeline.ranks));
  for (std::size_t rank = 0; rank < use.size(); ++rank) use[rank].rank = RankId(static_cast<std::int64_t>(rank));
  const std::vector<StepWindow> windows = median_steps(timeline);
  if (windows.empty()) return use;
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    if (track.lane != kComputeLane || !is_busy(span)) continue;
    for (const StepWindow& window : windows) use[track.rank.index()].busy += window.share(span);
  }
  const Nanoseconds wall = iteration_time(timeline);
  for (RankUse& rank : use) {
    rank.busy = Nanoseconds(rank.busy.value / static_cast<std::int64_t>(windows.size()));
    rank.idle = wall - rank.busy;
    if (wall.value > 0) rank.bubble_fraction = seconds(rank.idle) / seconds(wall);
  }
  return use;
}

}  // namespace penstock
