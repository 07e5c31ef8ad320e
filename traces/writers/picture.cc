#include "traces/writers/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/instruction.h"

namespace penstock {
namespace {

using Held = std::tuple<std::uint8_t, std::uint16_t, std::uint8_t>;  // network, stage, direction

Held held(const InstructionKey& key) { return {key.network, key.stage, key.direction}; }

bool has_stage(const Span& span) { return span.label < 0 && is_busy(span.key.op); }

// Which of its stages each rank works on: of compute only, for a message's stage may be another rank's.
std::vector<std::map<Held, std::int32_t>> shades_of_ranks(const Timeline& timeline) {
  std::vector<std::map<Held, std::int32_t>> out(static_cast<std::size_t>(timeline.ranks));
  for (const Span& span : timeline.spans) {
    if (has_stage(span)) out[timeline.tracks[span.track].rank.index()].emplace(held(span.key), 0);
  }
  for (auto& stages : out) {
    std::int32_t next = 0;
    for (auto& [key, shade] : stages) shade = std::min(next++, kMostShades - 1);
  }
  return out;
}

// The first row on which a span starts no earlier than the one before it ended.
std::int32_t free_row(std::vector<Nanoseconds>& ends, const Span& span) {
  std::size_t row = 0;
  while (row < ends.size() && ends[row] > span.start) ++row;
  if (row == ends.size()) ends.emplace_back();
  ends[row] = span.end;
  return static_cast<std::int32_t>(row);
}

std::int32_t chosen_step(const Timeline& timeline, std::int32_t step) {
  if (step != kLastStep) return step;
  std::int32_t last = 0;
  for (const Span& span : timeline.spans) last = std::max(last, span.step);
  return last;
}

struct Scale {
  std::int64_t nanoseconds;
  std::string_view name;
};
constexpr Scale kScales[] = {{1, "ns"},
                             {1'000, "us"},
                             {1'000'000, "ms"},
                             {1'000'000'000, "s"},
                             {3'600'000'000'000, "h"},
                             {86'400'000'000'000, "days"}};

// The largest unit of which there are at least two; four of hours and days.
Scale scale_of(Nanoseconds length, bool bare) {
  if (bare) return {1'000'000'000, ""};
  Scale chosen = kScales[0];
  for (const Scale& scale : kScales) {
    const std::int64_t least = scale.nanoseconds > 1'000'000'000 ? 4 : 2;
    if (length.value / scale.nanoseconds >= least) chosen = scale;
  }
  return chosen;
}

std::string in_scale(std::int64_t nanoseconds, const Scale& scale) {
  return fmt::format("{:.10g}", static_cast<double>(nanoseconds) / static_cast<double>(scale.nanoseconds));
}

}  // namespace

Picture arrange(const Timeline& timeline, std::int32_t step) {
  Picture out;
  out.step = chosen_step(timeline, step);
  std::vector<std::size_t> tracks(timeline.tracks.size());
  std::iota(tracks.begin(), tracks.end(), std::size_t{0});
  const auto is_compute_track = [&](std::size_t t) { return timeline.tracks[t].lane == kComputeLane; };
  std::stable_sort(tracks.begin(), tracks.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(timeline.tracks[a].rank, !is_compute_track(a)) < std::pair(timeline.tracks[b].rank, !is_compute_track(b));
  });
  std::vector<std::vector<std::size_t>> spans_of(timeline.tracks.size());
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const Span& span = timeline.spans[i];
    PENSTOCK_CHECK(span.track < timeline.tracks.size(), "a span is on a track that exists");
    if (out.step == kAllSteps || span.step == out.step) spans_of[span.track].push_back(i);
  }
  const auto shades = shades_of_ranks(timeline);
  out.start = kForever;
  for (const std::size_t track : tracks) {
    std::vector<std::size_t>& mine = spans_of[track];
    if (mine.empty() && !is_compute_track(track)) continue;
    std::stable_sort(mine.begin(), mine.end(),
                     [&](std::size_t a, std::size_t b) { return timeline.spans[a].start < timeline.spans[b].start; });
    std::vector<Nanoseconds> ends;
    const auto& stages = shades[timeline.tracks[track].rank.index()];
    for (const std::size_t i : mine) {
      const Span& span = timeline.spans[i];
      out.spans.push_back(i);
      out.lane.push_back(out.lanes.size());
      out.row.push_back(free_row(ends, span));
      const auto stage = stages.find(held(span.key));
      out.shade.push_back(has_stage(span) ? stage->second : 0);
      out.shades = std::max(out.shades, out.shade.back() + 1);
      out.start = std::min(out.start, span.start);
      out.end = out.spans.size() == 1 ? span.end : std::max(out.end, span.end);
    }
    out.lanes.push_back({.rank = timeline.tracks[track].rank,
                         .name = timeline.tracks[track].lane,
                         .compute = is_compute_track(track),
                         .depth = std::max(1, static_cast<std::int32_t>(ends.size()))});
  }
  if (out.spans.empty()) out.start = out.end = Nanoseconds(0);
  return out;
}

std::string span_name(const Timeline& timeline, const Span& span) {
  if (span.label >= 0) {
    PENSTOCK_CHECK(static_cast<std::size_t>(span.label) < timeline.labels.size(), "a label exists");
    return timeline.labels[static_cast<std::size_t>(span.label)];
  }
  return brief(Instruction{.key = span.key, .target = span.edge.value});
}

std::vector<std::string> short_names(const Span& span) {
  if (span.label >= 0 || span.key.microbatch < 0 || !is_compute(span.key.op)) return {};
  const std::string number = fmt::format("{}", span.key.microbatch);
  return {std::string(letter(paint_of(span.key.op))) + number, number};
}

Paint paint_of_span(const Span& span) { return span.label >= 0 ? Paint::Other : paint_of(span.key.op); }

std::vector<Tick> ticks(Nanoseconds length, std::int32_t most, bool bare) {
  if (length.value <= 0 || most < 2) return {{Nanoseconds(0), bare ? "0" : "0 ns"}};
  const Scale scale = scale_of(length, bare);
  // By tens of the unit, so that steps are round numbers of it and whole nanoseconds.
  std::int64_t power = scale.nanoseconds;
  while (power % 10 == 0 && power > length.value / most) power /= 10;
  std::int64_t step = power;
  for (std::int64_t factor = 1; length.value / step + 1 > most;) {
    factor = factor == 1 ? 2 : factor == 2 ? 5 : 10;
    step = power * factor;
    if (factor == 10) {
      power *= 10;
      factor = 1;
    }
  }
  std::vector<Tick> out;
  for (std::int64_t i = 0; i <= length.value / step; ++i) {
    const std::string number = in_scale(i * step, scale);
    out.push_back({Nanoseconds(i * step), bare ? number : fmt::format("{} {}", number, scale.name)});
  }
  return out;
}

std::string time_text(Nanoseconds time, bool bare) {
  return bare ? fmt::format("{:.10g}", seconds(time)) : long_time(seconds(time));
}

}  // namespace penstock
