#include "traces/writers/svg_gantt.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/writers/svg.h"
#include "traces/writers/svg_memory.h"

namespace penstock {
namespace {

constexpr double kLeft = 96, kMargin = 20, kHead = 78, kGap = 7, kThin = 9;

// Rows get lower as ranks get many: 64 of them must still fit a screen or two.
double tall(std::int32_t ranks) { return ranks <= 24 ? 22 : ranks <= 64 ? 16 : 10; }

struct Rows {
  std::vector<double> top, height;  // one a lane; height of one of its rows
  double bottom = kHead;
};

Rows place(const Picture& picture, std::int32_t ranks) {
  Rows rows;
  double y = kHead;
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const Lane& lane = picture.lanes[i];
    if (i > 0 && picture.lanes[i - 1].rank != lane.rank) y += ranks <= 64 ? kGap : 3;
    rows.top.push_back(y);
    rows.height.push_back(lane.compute ? tall(ranks) : kThin);
    y += rows.height.back() * lane.depth + 1;
  }
  rows.bottom = y + 4;
  return rows;
}

class Gantt {
 public:
  Gantt(const Timeline& timeline, const SvgOptions& options)
      : timeline_(timeline), options_(options), picture_(arrange(timeline, options.step)),
        rows_(place(picture_, timeline.ranks)) {
    axis_ = {.left = kLeft, .right = options.width - kMargin, .length = picture_.end - picture_.start, .bare = options.bare};
    for (const std::size_t i : picture_.spans) used_[static_cast<std::size_t>(paint_of_span(timeline.spans[i]))] = true;
  }

  std::string draw() {
    head();
    const bool memory = std::any_of(options_.memory.begin(), options_.memory.end(),
                                    [](const MemoryUse& use) { return !use.curve.empty() || use.live_peak.value > 0; });
    const double memory_top = rows_.bottom + 12;
    const double bottom =
        memory ? memory_top + kMemoryPanelHeight * static_cast<double>(options_.memory.size()) : rows_.bottom;
    if (!picture_.spans.empty()) draw_axis(svg_, kHead - 4, bottom, axis_);
    lane_names();
    for (std::size_t i = 0; i < picture_.spans.size(); ++i) box(i);
    for (std::size_t i = 0; memory && i < options_.memory.size(); ++i) {
      const Tone tone = timeline_.origin == Origin::Measured ? Tone::Measured : Tone::Predicted;
      draw_memory(svg_, memory_top + kMemoryPanelHeight * static_cast<double>(i),
                  {{.use = &options_.memory[i], .start = picture_.start, .end = picture_.end, .tone = tone, .name = ""}}, axis_);
    }
    const std::string title = timeline_.name.empty() ? "Timeline" : timeline_.name;
    return svg_document(svg_, options_.width, bottom + 26, title, Standing::Alone, used_, picture_.shades);
  }

 private:
  double x(Nanoseconds t) const {
    if (axis_.length.value == 0) return axis_.left;
    return axis_.left + (axis_.right - axis_.left) *
                            (static_cast<double>((t - picture_.start).value) / static_cast<double>(axis_.length.value));
  }

  void head() {
    svg_.text(8, 24, "text h", timeline_.name.empty() ? "Timeline" : timeline_.name);
    std::string said = fmt::format("{}, {} rank{}", name_of(timeline_.origin), timeline_.ranks, timeline_.ranks == 1 ? "" : "s");
    if (picture_.spans.empty()) {
      said += ", nothing happened";
    } else {
      said += fmt::format(", takes {}", time_text(axis_.length, options_.bare));
      if (options_.step != kAllSteps && picture_.step > 0) said += fmt::format(", step {}", picture_.step);
    }
    svg_.text(8, 42, "muted", said);
    double at = 8;
    for (std::size_t p = 0; p < kPaints; ++p) {
      if (used_[p]) at = legend(static_cast<Paint>(p), at);
    }
    if (picture_.shades > 1) svg_.text(at, 62, "muted", "fainter: the rank's later stages");
  }

  double legend(Paint paint, double at) {
    const bool many = paint <= Paint::Recompute;  // what has a stage of its own
    const std::int32_t shades = many ? picture_.shades : 1;
    for (std::int32_t s = 0; s < shades; ++s) svg_.rect(at + 11 * s, 53, 11, 11, paint_class(paint, s));
    at += 11 * shades + 5;
    const std::string_view sign = letter(paint);
    const std::string said = sign.empty() ? std::string(meaning(paint)) : fmt::format("{} {}", sign, meaning(paint));
    svg_.text(at, 62, "text", said);
    return at + text_width(said, 11) + 14;
  }

  static std::string_view name_of(Origin origin) {
    return origin == Origin::Measured ? "measured" : origin == Origin::Imported ? "imported" : "predicted";
  }

  void lane_names() {
    double free = 0;  // names that would overlap the one above are left out
    for (std::size_t i = 0; i < picture_.lanes.size(); ++i) {
      const Lane& lane = picture_.lanes[i];
      const double middle = rows_.top[i] + rows_.height[i] * lane.depth / 2;
      if (lane.compute) svg_.rect(kLeft, rows_.top[i], axis_.right - kLeft, rows_.height[i] * lane.depth, "panel");
      if (middle - 5 < free) continue;
      svg_.text(kLeft - 6, middle + (lane.compute ? 4 : 3), lane.compute ? "text" : "muted s",
                lane.compute ? fmt::format("rank {}", lane.rank.value) : lane.name, Anchor::End);
      free = middle + (lane.compute ? 5 : 4);
    }
  }

  void box(std::size_t i) {
    const Span& span = timeline_.spans[picture_.spans[i]];
    const std::size_t lane = picture_.lane[i];
    const double left = x(span.start);
    // What took time is seen, be it ever so short.
    const double width = span.end > span.start ? std::max(0.3, x(span.end) - left) : 0;
    double top = rows_.top[lane] + rows_.height[lane] * picture_.row[i], height = rows_.height[lane];
    if (picture_.lanes[lane].compute && !is_busy(span)) {
      top += height * 0.7;
      height *= 0.3;
    }
    const std::string css = paint_class(paint_of_span(span), picture_.shade[i]);
    const std::string title =
        fmt::format("{}\nstart {}\ntakes {}", span_name(timeline_, span), time_text(span.start - picture_.start, options_.bare),
                    time_text(span.end - span.start, options_.bare));
    // A hair's breadth between neighbours, where there is room for it.
    const double gap = width > 3 ? 0.5 : 0;
    svg_.rect(left, top, width - gap, height, css, title);
    if (height < 10) return;
    for (const std::string& label : short_names(span)) {
      if (text_width(label, 10) + 2 > width) continue;
      svg_.text(left + (width - gap) / 2, top + height / 2 + 3.5, css + "t n", label, Anchor::Middle);
      break;
    }
  }

  const Timeline& timeline_;
  const SvgOptions& options_;
  Picture picture_;
  Rows rows_;
  MemoryAxis axis_;
  PaintsUsed used_{};
  Svg svg_;
};

}  // namespace

std::string svg_gantt(const Timeline& timeline, const SvgOptions& options) { return Gantt(timeline, options).draw(); }

}  // namespace penstock
