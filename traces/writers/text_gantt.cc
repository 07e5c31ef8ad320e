#include "traces/writers/text_gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace penstock {
namespace {

// One character stands for an operation, another fills the columns it takes.
struct Look {
  char letter, fill;
  const char* colour;
};

Look look_of(Op op) {
  switch (op) {
    case Op::F: return {'F', '=', "\033[34m"};
    case Op::BF:
    case Op::B: return {'B', '#', "\033[32m"};
    case Op::W: return {'W', '%', "\033[36m"};
    case Op::R: return {'R', '~', "\033[35m"};
    case Op::Step: return {'S', '+', "\033[33m"};
    default: return {'.', '.', ""};
  }
}

// "F12=": the letter and the microbatch where they fit, the fill for the rest. One column shows the fill alone.
std::string block(const InstructionKey& key, std::size_t width) {
  const Look look = look_of(key.op);
  std::string out = key.microbatch >= 0 ? fmt::format("{}{}", look.letter, key.microbatch) : std::string(1, look.letter);
  if (out.size() > width) out.clear();
  out.resize(width, look.fill);
  return out;
}

std::vector<const Span*> compute_spans(const Timeline& timeline, std::int32_t rank, std::int32_t step) {
  std::vector<const Span*> out;
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    const bool drawn = look_of(span.key.op).letter != '.';
    if (drawn && track.rank.value == rank && track.lane == "compute" && span.step == step) out.push_back(&span);
  }
  return out;
}

}  // namespace

std::string text_gantt(const Timeline& timeline, const GanttOptions& options) {
  std::int32_t step = options.step;
  if (step < 0) {
    for (const Span& span : timeline.spans) step = std::max(step, span.step);
  }
  std::vector<std::vector<const Span*>> rows;
  Nanoseconds start = kForever, end;
  for (std::int32_t rank = 0; rank < timeline.ranks; ++rank) {
    rows.push_back(compute_spans(timeline, rank, step));
    for (const Span* span : rows.back()) {
      start = std::min(start, span->start);
      end = std::max(end, span->end);
    }
  }
  if (start >= end) return "";
  const double scale = static_cast<double>(options.columns) / static_cast<double>((end - start).value);
  const auto column = [&](Nanoseconds t) { return static_cast<std::size_t>(static_cast<double>((t - start).value) * scale + 0.5); };
  const std::size_t digits = fmt::format("{}", timeline.ranks - 1).size();

  std::string out;
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    out += fmt::format("rank {:>{}} |", rank, digits);
    std::size_t at = 0;
    for (const Span* span : rows[rank]) {
      const std::size_t from = std::max(at, column(span->start)), to = column(span->end);
      if (to <= from) continue;  // narrower than half a column
      out.append(from - at, '.');
      const std::string text = block(span->key, to - from);
      out += options.colour ? fmt::format("{}{}\033[0m", look_of(span->key.op).colour, text) : text;
      at = to;
    }
    out.append(static_cast<std::size_t>(options.columns) - std::min(at, static_cast<std::size_t>(options.columns)), '.');
    out += "|\n";
  }
  const std::string length = text(end - start);
  // The axis: zero under the first column, the length ending under the last.
  out += fmt::format("{:<{}}0{:>{}}\n", "", digits + 7, length, options.columns - 1);
  return out;
}

}  // namespace penstock
