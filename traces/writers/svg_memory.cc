#include "traces/writers/svg_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/writers/picture.h"

namespace penstock {
namespace {

constexpr double kHead = 30;   // above the curve: two lines of text
constexpr double kTail = 10;   // beneath it
constexpr double kPlot = kMemoryPanelHeight - kHead - kTail;

double x_of(Nanoseconds t, const MemoryAxis& axis) {
  if (axis.length.value <= 0) return axis.left;
  return axis.left + (axis.right - axis.left) * (static_cast<double>(t.value) / static_cast<double>(axis.length.value));
}

// A step curve. Of changes within half a pixel only the extremes are drawn: more cannot be seen.
std::string curve_path(const MemoryLine& line, const MemoryAxis& axis, double ground, double per_byte) {
  std::string out;
  const auto y_of = [&](Bytes bytes) { return ground - per_byte * static_cast<double>(bytes.value); };
  const std::vector<MemoryPoint>& curve = line.use->curve;
  for (std::size_t i = 0; i < curve.size();) {
    const double x = x_of(curve[i].time - line.start, axis);
    Bytes low = curve[i].bytes, high = low, last = low;
    std::size_t next = i;
    for (; next < curve.size() && x_of(curve[next].time - line.start, axis) < x + 0.5; ++next) {
      last = curve[next].bytes;
      low = std::min(low, last);
      high = std::max(high, last);
    }
    out += fmt::format("{}{}{}{}", out.empty() ? "M" : "H", pixels(x), out.empty() ? " " : "V", pixels(y_of(high)));
    if (low != high) out += fmt::format("V{}", pixels(y_of(low)));
    if (last != low) out += fmt::format("V{}", pixels(y_of(last)));
    i = next;
  }
  return out + "H" + pixels(x_of(line.end - line.start, axis));
}

// Where the curve first reaches its top.
const MemoryPoint& top_of(const std::vector<MemoryPoint>& curve) {
  return *std::max_element(curve.begin(), curve.end(),
                           [](const MemoryPoint& a, const MemoryPoint& b) { return a.bytes < b.bytes; });
}

std::string peak_text(const MemoryLine& line) {
  const MemoryUse& use = *line.use;
  const std::string name = line.name.empty() ? "peak" : line.name + " peak";
  if (use.peak.value == 0 && use.live_peak.value == 0) return name + " unknown";
  std::string out = fmt::format("{} {}", name, text(use.peak.value > 0 ? use.peak : use.live_peak));
  if (use.live_peak.value > 0 && use.live_peak != use.peak) out += fmt::format(" (live {})", text(use.live_peak));
  return out;
}

}  // namespace

void draw_memory(Svg& svg, double y, const std::vector<MemoryLine>& lines, const MemoryAxis& axis) {
  if (lines.empty()) return;
  Bytes top, limit;
  for (const MemoryLine& line : lines) {
    for (const MemoryPoint& point : line.use->curve) top = std::max(top, point.bytes);
    top = std::max({top, line.use->live_peak, line.use->peak});
    limit = std::max(limit, line.use->limit);
  }
  const bool limit_drawn = limit.value > 0 && limit.value / 3 <= top.value;
  const double whole = 1.04 * static_cast<double>(std::max(limit_drawn ? std::max(limit, top).value : top.value, std::int64_t{1}));
  const double ground = y + kHead + kPlot, per_byte = kPlot / whole;

  svg.text(axis.left - 6, y + 12, "text", fmt::format("rank {}", lines.front().use->rank.value), Anchor::End);
  double x = axis.left;
  for (const MemoryLine& line : lines) {
    const std::string said = peak_text(line);
    svg.rect(x, y + 4, 9, 9, name(line.tone));
    svg.text(x + 13, y + 12, "text ground-line halo", said);
    x += 13 + text_width(said, 11) + 18;
  }
  if (limit.value > 0) {
    const std::string said = fmt::format("limit {}{}", text(limit), limit_drawn ? "" : ", far above");
    svg.text(axis.right, y + 12, limit_drawn ? "limit ground-line halo" : "muted ground-line halo", said, Anchor::End);
  }
  const MemoryUse& first = *lines.front().use;
  if (!first.fullest.holders.empty()) {
    std::string said = fmt::format("at {}: {}", first.fullest.at, holders_text(first.fullest));
    if (first.unused.value > 0)
      said += fmt::format("; highest address at {}: {}, {} below it unused", first.highest.at, holders_text(first.highest), text(first.unused));
    svg.text(axis.left, y + 25, "muted s ground-line halo", said);
  }

  svg.rect(axis.left, y + kHead, axis.right - axis.left, kPlot, "panel");
  svg.text(axis.left - 6, y + kHead + 9, "muted s", text(top), Anchor::End);
  svg.text(axis.left - 6, ground, "muted s", "0", Anchor::End);
  for (const MemoryLine& line : lines) {
    if (line.use->curve.empty()) {
      const double peak = ground - per_byte * static_cast<double>(line.use->live_peak.value);
      if (line.use->live_peak.value > 0) svg.line(axis.left, peak, axis.right, peak, fmt::format("{}-line dash", name(line.tone)));
      continue;
    }
    svg.path(curve_path(line, axis, ground, per_byte), fmt::format("{}-line thick", name(line.tone)));
    const MemoryPoint& peak = top_of(line.use->curve);
    svg.rect(x_of(peak.time - line.start, axis) - 2, ground - per_byte * static_cast<double>(peak.bytes.value) - 2, 4, 4,
             name(line.tone), fmt::format("{} at {}", text(peak.bytes), time_text(peak.time - line.start, axis.bare)));
  }
  if (limit_drawn) {
    const double at = ground - per_byte * static_cast<double>(limit.value);
    svg.line(axis.left, at, axis.right, at, "limit-line dash");
  }
  svg.line(axis.left, ground, axis.right, ground, "line-line");
}

void draw_axis(Svg& svg, double top, double bottom, const MemoryAxis& axis) {
  // A label takes some 60 pixels.
  const auto most = std::max(2, static_cast<std::int32_t>((axis.right - axis.left) / 90));
  for (const Tick& tick : ticks(axis.length, most, axis.bare)) {
    const double x = x_of(tick.at, axis);
    svg.line(x, top, x, bottom + 4, "line-line");
    svg.text(x, bottom + 16, "muted", tick.label, Anchor::Middle);
  }
}

std::string svg_memory(const Timeline& timeline, const std::vector<MemoryUse>& memory, std::int32_t step, bool bare) {
  const Picture picture = arrange(timeline, step);
  const MemoryAxis axis{.length = picture.end - picture.start, .bare = bare};
  constexpr double kTop = 48;
  const double bottom = kTop + kMemoryPanelHeight * static_cast<double>(memory.size());
  Svg svg;
  svg.text(8, 24, "text h", fmt::format("Memory: {}", timeline.name));
  draw_axis(svg, kTop, bottom, axis);
  double y = kTop;
  for (const MemoryUse& use : memory) {
    const Tone tone = timeline.origin == Origin::Measured ? Tone::Measured : Tone::Predicted;
    draw_memory(svg, y, {{.use = &use, .start = picture.start, .end = picture.end, .tone = tone, .name = ""}}, axis);
    y += kMemoryPanelHeight;
  }
  return svg_document(svg, 1200, bottom + 26, "Memory of each rank over time", Standing::Alone, {}, 1);
}

}  // namespace penstock
