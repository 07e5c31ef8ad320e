#include "traces/analysis/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "traces/analysis/step_use.h"

namespace penstock {
namespace {

Nanoseconds median(std::vector<Nanoseconds>& sample) {
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  if (sample.size() % 2 == 1) return *middle;
  const Nanoseconds below = *std::max_element(sample.begin(), middle);
  return Nanoseconds(below.value + (*middle - below).value / 2);
}

// Of an instruction within a step: a stage sends and receives several messages a microbatch, which their edges tell apart.
using Identity = std::pair<InstructionKey, EdgeId>;

// Median duration of each instruction over the steps after warm-up.
std::map<Identity, Nanoseconds> durations(const Timeline& timeline) {
  std::map<Identity, std::map<std::int32_t, Nanoseconds>> samples;  // by step
  for (const Span& span : timeline.spans) {
    if (span.step < timeline.warmup_steps) continue;
    if (const auto key = costed_with(span)) samples[{*key, span.edge}][span.step] += span.end - span.start;
  }
  std::map<Identity, Nanoseconds> out;
  for (const auto& [key, steps] : samples) {
    std::vector<Nanoseconds> sample;
    for (const auto& [step, time] : steps) sample.push_back(time);
    out[key] = median(sample);
  }
  return out;
}

double relative_error(Nanoseconds predicted, Nanoseconds measured) {
  return measured.value == 0 ? 0
                             : static_cast<double>((predicted - measured).value) /
                                   static_cast<double>(measured.value);
}

tl::unexpected<Error> only_in(std::string_view which, const Identity& identity) {
  const std::string instruction =
      brief(Instruction{.key = identity.first, .target = identity.second.value});
  return fail(ErrorCode::Infeasible,
              fmt::format("only the {} timeline has {}", which, instruction),
              "compare a simulation and a run of the same plan");
}

}  // namespace

double Comparison::busy_error() const {
  double largest = 0;
  for (const RankComparison& rank : ranks) {
    largest = std::max(largest, std::abs(relative_error(rank.predicted_busy, rank.measured_busy)));
  }
  return largest;
}

Nanoseconds Comparison::more_waiting() const {
  Nanoseconds more;
  for (const RankComparison& rank : ranks) more += rank.measured_idle - rank.predicted_idle;
  return Nanoseconds(ranks.empty() ? 0 : more.value / static_cast<std::int64_t>(ranks.size()));
}

Result<Comparison> compare(const Timeline& predicted, const Timeline& measured) {
  if (predicted.plan_digest != measured.plan_digest) {
    const auto of = [](const Timeline& timeline) {
      return timeline.plan_digest.empty() ? std::string("one that is not named")
                                          : timeline.plan_digest;
    };
    return fail(ErrorCode::Infeasible,
                fmt::format("the timelines come from different plans ({} and {})",
                            of(predicted), of(measured)),
                "compare a simulation and a run of the same plan");
  }
  const auto expected = durations(predicted), seen = durations(measured);
  std::map<std::pair<std::int32_t, Op>,
           std::pair<std::vector<Nanoseconds>, std::vector<Nanoseconds>>>
      kinds;
  Comparison out;
  for (const auto& [key, time] : expected) {
    const auto other = seen.find(key);
    if (other == seen.end()) return only_in("predicted", key);
    auto& [p, m] = kinds[{key.first.stage, key.first.op}];
    p.push_back(time);
    m.push_back(other->second);
    ++out.matched;
  }
  for (const auto& [key, time] : seen) {
    if (!expected.contains(key)) return only_in("measured", key);
  }
  for (auto& [kind, samples] : kinds) {
    const auto count = static_cast<std::int64_t>(samples.first.size());
    const Nanoseconds p = median(samples.first), m = median(samples.second);
    out.ops.push_back({.op = kind.second,
                       .stage = kind.first,
                       .instructions = count,
                       .predicted = p,
                       .measured = m,
                       .error = relative_error(p, m)});
  }
  out.predicted = iteration_time(predicted);
  out.measured = iteration_time(measured);
  out.error = relative_error(out.predicted, out.measured);
  const std::vector<RankUse> predicted_use = step_use(predicted), measured_use = step_use(measured);
  for (std::size_t r = 0; r < std::min(predicted_use.size(), measured_use.size()); ++r) {
    RankComparison rank;
    rank.rank = predicted_use[r].rank;
    rank.predicted_busy = predicted_use[r].busy;
    rank.measured_busy = measured_use[r].busy;
    rank.predicted_idle = predicted_use[r].idle;
    rank.measured_idle = measured_use[r].idle;
    rank.predicted_bubble = predicted_use[r].bubble_fraction;
    rank.measured_bubble = measured_use[r].bubble_fraction;
    if (r < predicted.peak_memory.size()) rank.predicted_peak = predicted.peak_memory[r];
    if (r < measured.peak_memory.size()) rank.measured_peak = measured.peak_memory[r];
    if (r < predicted.live_peak.size()) rank.predicted_live = predicted.live_peak[r];
    if (r < measured.live_peak.size()) rank.measured_live = measured.live_peak[r];
    out.ranks.push_back(rank);
  }
  return out;
}

}  // namespace penstock
