#include "core/timeline.h"

#include <algorithm>
#include <map>

namespace penstock {

Nanoseconds StepWindow::share(const Span& span) const {
  return std::max(Nanoseconds(0), std::min(span.end, to) - std::max(span.start, from));
}

std::vector<StepWindow> step_windows(const Timeline& timeline) {
  if (timeline.spans.empty()) return {};
  Nanoseconds from = timeline.spans.front().start;
  std::map<std::int32_t, Nanoseconds> last;  // by step: the end of its last span
  for (const Span& span : timeline.spans) {
    from = std::min(from, span.start);
    const auto [at, is_new] = last.emplace(span.step, span.end);
    if (!is_new) at->second = std::max(at->second, span.end);
  }
  std::vector<StepWindow> windows;
  windows.reserve(last.size());
  for (const auto& [step, end] : last) {
    windows.push_back({.step = step, .from = from, .to = std::max(end, from)});
    from = windows.back().to;
  }
  return windows;
}

bool is_busy(const Span& span) {
  return span.label >= 0 || is_busy(span.key.op);
}

std::optional<InstructionKey> costed_with(const Span& span) {
  if (span.label < 0) return span.key;
  if (span.key.op != Op::Gather) return std::nullopt;
  InstructionKey step = span.key;
  step.op = Op::Step;
  return step;
}

std::vector<Nanoseconds> step_times(const Timeline& timeline) {
  std::vector<Nanoseconds> times;
  for (const StepWindow& window : step_windows(timeline)) times.push_back(window.to - window.from);
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

}  // namespace penstock
