#include "traces/analysis/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/instruction.h"
#include "sim/memory.h"

namespace penstock {
namespace {

struct Window {
  Nanoseconds start = kForever, end{-kForever.value};
};

Window window_of(const Timeline& timeline, std::int32_t step) {
  Window window;
  for (const Span& span : timeline.spans) {
    if (span.step != step) continue;
    window.start = std::min(window.start, span.start);
    window.end = std::max(window.end, span.end);
  }
  return window;
}

// By rank. Counters tell changes: the level at the window's start is that of the last change before it.
std::vector<std::vector<MemoryPoint>> recorded(const Timeline& timeline, const Window& window) {
  std::vector<std::vector<MemoryPoint>> out(static_cast<std::size_t>(timeline.ranks));
  for (const CounterPoint& point : timeline.points) {
    const Counter& counter = timeline.counters[point.counter];
    if (counter.name != "memory" || point.time > window.end) continue;
    std::vector<MemoryPoint>& curve = out[counter.rank.index()];
    const MemoryPoint here{std::max(point.time, window.start), Bytes(point.value)};
    if (!curve.empty() && curve.back().time == here.time) {
      curve.back() = here;
    } else {
      curve.push_back(here);
    }
  }
  return out;
}

// The k-th instruction of the compute body that leaves a span is the k-th compute span of the step.
std::vector<MemoryPoint> derived(const Timeline& timeline, RankId rank, std::int32_t step, const Program& program,
                                 const LiveMemory& live) {
  std::vector<Nanoseconds> starts;
  std::vector<Op> ops;
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    if (span.step != step || span.label >= 0 || track.rank != rank || track.lane != kComputeLane) continue;
    starts.push_back(span.start);
    ops.push_back(span.key.op);
  }
  std::vector<MemoryPoint> out;
  const std::vector<Instruction>& body = program.ranks[rank.index()].streams.front().body;
  std::size_t next = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].key.op == Op::Wait) continue;
    if (next == starts.size() || ops[next] != body[i].key.op) return {};  // another program's
    if (out.empty() || out.back().bytes != live.at[i]) out.push_back({starts[next], live.at[i]});
    ++next;
  }
  return next == starts.size() ? out : std::vector<MemoryPoint>();
}

bool is_live(const Buffer& buffer, std::uint32_t position) {
  return is_persistent(buffer.cls) || (position >= buffer.first && position <= buffer.last);
}

// What is held while instruction `position` runs.
MemoryMoment moment_at(const MemoryUse& use, const Program& program, std::uint32_t position) {
  MemoryMoment out;
  out.at = text(program.ranks[use.rank.index()].streams.front().body[position].key);
  std::array<Holder, enum_names(BufferClass{}).size()> by_class{};
  for (const Buffer& buffer : program.buffers_of(use.rank)) {
    if (!is_live(buffer, position)) continue;
    Holder& holder = by_class[static_cast<std::size_t>(buffer.cls)];
    holder.cls = buffer.cls;
    ++holder.buffers;
    holder.bytes += align_up(buffer.bytes, kTensorAlignment);
  }
  for (const Holder& holder : by_class) {
    if (holder.bytes.value > 0) out.holders.push_back(holder);
  }
  std::stable_sort(out.holders.begin(), out.holders.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return out;
}

void explain_peak(MemoryUse& use, const Program& program, const LiveMemory& live) {
  const auto top = std::max_element(live.at.begin(), live.at.end());
  if (top == live.at.end()) return;
  use.fullest = moment_at(use, program, static_cast<std::uint32_t>(top - live.at.begin()));
  if (use.rank.index() >= program.arena.size()) return;
  const Bytes arena = program.arena[use.rank.index()];
  if (arena <= live.peak) return;
  std::uint32_t first = static_cast<std::uint32_t>(live.at.size());
  for (const Buffer& buffer : program.buffers_of(use.rank)) {
    if (align_up(buffer.offset + buffer.bytes, kTensorAlignment) < arena) continue;
    first = std::min(first, is_persistent(buffer.cls) ? 0 : buffer.first);
  }
  if (first >= live.at.size()) return;
  use.highest = moment_at(use, program, first);
  use.unused = arena - live.at[first];
}

std::string_view plain_name(BufferClass cls) {
  switch (cls) {
    case BufferClass::Weights: return "weights";
    case BufferClass::Gradients: return "gradients";
    case BufferClass::Optimizer: return "optimizer state";
    case BufferClass::Workspace: return "workspace";
    case BufferClass::Data: return "data";
    case BufferClass::Stash: return "stash";
    case BufferClass::Norms: return "norms of gradients";
    case BufferClass::SendBuffer: return "send buffers";
    case BufferClass::ReceiveBuffer: return "receive buffers";
  }
  return "";
}

Bytes known(const std::vector<Bytes>& peaks, std::size_t rank) { return rank < peaks.size() ? peaks[rank] : Bytes(0); }

}  // namespace

std::vector<MemoryUse> memory_use(const Timeline& timeline, std::int32_t step, const Program* program) {
  std::vector<std::vector<MemoryPoint>> curves = recorded(timeline, window_of(timeline, step));
  if (program != nullptr && program->ranks.size() != static_cast<std::size_t>(timeline.ranks)) program = nullptr;
  std::vector<MemoryUse> out(static_cast<std::size_t>(timeline.ranks));
  for (std::size_t r = 0; r < out.size(); ++r) {
    MemoryUse& use = out[r];
    use.rank = RankId(r);
    use.peak = known(timeline.peak_memory, r);
    use.live_peak = known(timeline.live_peak, r);
    use.curve = std::move(curves[r]);
    if (program == nullptr || program->ranks[r].streams.empty()) continue;
    use.limit = program->ranks[r].memory_limit;
    const LiveMemory live = live_memory(*program, use.rank);
    if (use.curve.empty()) use.curve = derived(timeline, use.rank, step, *program, live);
    explain_peak(use, *program, live);
  }
  return out;
}

std::string holders_text(const MemoryMoment& moment, std::size_t most) {
  std::string out;
  Bytes rest;
  for (std::size_t i = 0; i < moment.holders.size(); ++i) {
    const Holder& holder = moment.holders[i];
    if (i >= most) {
      rest += holder.bytes;
      continue;
    }
    const std::string count = holder.cls == BufferClass::Stash && holder.buffers > 1 ? fmt::format("{} ", holder.buffers) : "";
    const std::string_view name = count.empty() ? plain_name(holder.cls) : "stashes";
    out += fmt::format("{}{}{} {}", out.empty() ? "" : ", ", count, name, text(holder.bytes));
  }
  if (rest.value > 0) out += fmt::format(", the rest {}", text(rest));
  return out;
}

}  // namespace penstock
