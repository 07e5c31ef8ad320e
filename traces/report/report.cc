#include "traces/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/version.h"
#include "traces/analysis/memory_use.h"
#include "traces/report/assets.h"
#include "traces/report/error_source.h"
#include "traces/report/report_data.h"
#include "traces/writers/palette.h"
#include "traces/writers/picture.h"
#include "traces/writers/svg_memory.h"

namespace penstock {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

class Page {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Arguments>(arguments)...);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// What it sorts by stands beside what is read.
std::string cell(double value, std::string_view text) {
  return fmt::format("<td data-value=\"{:.17g}\">{}</td>", value, xml_escaped(text));
}
std::string cell(Nanoseconds t) { return cell(static_cast<double>(t.value), text(t)); }
std::string cell(std::int64_t n) { return fmt::format("<td>{}</td>", n); }

void head(Page& page, const ReportInput& input, std::int32_t shades) {
  const std::string light = css_variables(Theme::Light, shades), dark = css_variables(Theme::Dark, shades);
  page.add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
  page.add("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n");
  page.add("<title>Predicted against measured: {}</title>\n<style>\n", xml_escaped(input.measured.name));
  // On paper it is always light.
  page.add(":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{}}}}}\n", light, dark);
  page.add("@media screen{{:root[data-theme=dark]{{{}}}}}\n{}{}\n{}</style>\n</head>\n<body>\n", dark, svg_shapes(),
           css_classes(), kPageCss);
}

void summary(Page& page, const ReportInput& input) {
  const Comparison& c = input.comparison;
  page.add("<header><h1>Predicted against measured</h1><span class=\"program\">{}</span>", xml_escaped(input.measured.name));
  page.add("<button type=\"button\" id=\"theme\">light / dark</button></header>\n");
  page.add("<p class=\"verdict\">{}</p>\n<dl class=\"figures\">\n",
           xml_escaped(verdict(c, find_error_source(input.predicted, input.measured))));
  const auto figure = [&](std::string_view what, std::string_view value) {
    page.add("<div><dt>{}</dt><dd>{}</dd></div>\n", what, xml_escaped(value));
  };
  double predicted = 0, measured = 0;
  for (const RankComparison& rank : c.ranks) {
    predicted += rank.predicted_bubble / static_cast<double>(c.ranks.size());
    measured += rank.measured_bubble / static_cast<double>(c.ranks.size());
  }
  figure("predicted iteration", text(c.predicted));
  figure("measured iteration", text(c.measured));
  figure("error", signed_percent(c.error));
  figure("predicted bubble", percent(predicted));
  figure("measured bubble", percent(measured));
  figure("matched instructions a step", fmt::format("{}", c.matched));
  page.add("</dl>\n");
}

void panel(Page& page, std::string_view name, std::string_view said) {
  page.add("<div id=\"{0}\"><div class=\"caption\"><i class=\"{0}\"></i>{0} <span class=\"note\">{1}</span></div>", name,
           xml_escaped(said));
  page.add("<div class=\"scroller\"><canvas aria-label=\"{} timeline; the tables below have its figures\" role=\"img\"></canvas>",
           name);
  page.add("<div class=\"spacer\"></div></div></div>\n");
}

std::string step_text(const std::vector<ChosenStep>& steps) {
  return steps.empty() ? "nothing happened" : fmt::format("step {}, {}", steps.front().step, text(steps.front().time));
}

void legend(Page& page, const ReportInput& input, std::int32_t shades) {
  PaintsUsed used{};
  for (const Timeline* timeline : {&input.predicted, &input.measured}) {
    for (const Span& span : timeline->spans) used[static_cast<std::size_t>(paint_of_span(span))] = true;
  }
  page.add("<ul class=\"legend\">\n");
  for (std::size_t p = 0; p < kPaints; ++p) {
    if (!used[p]) continue;
    const auto paint = static_cast<Paint>(p);
    page.add("<li>");
    for (std::int32_t s = 0; s < (paint <= Paint::Recompute ? shades : 1); ++s) {
      page.add("<i style=\"background:var(--{})\"></i>", paint_class(paint, s));
    }
    page.add("{}{}{}</li>\n", letter(paint), letter(paint).empty() ? "" : " ", meaning(paint));
  }
  if (shades > 1) page.add("<li>fainter: the rank's later stages</li>\n");
  page.add("<li>a vertical line: the step's end</li>\n</ul>\n");
}

void timelines(Page& page, const ReportInput& input, const std::vector<ChosenStep>& predicted,
               const std::vector<ChosenStep>& measured, std::int32_t shades) {
  page.add("<h2>Timeline</h2>\n<div class=\"tools\">\n");
  page.add("<button type=\"button\" id=\"closer\" aria-label=\"closer\">+</button>\n");
  page.add("<button type=\"button\" id=\"wider\" aria-label=\"wider\">&#8722;</button>\n");
  page.add("<button type=\"button\" id=\"whole\">whole step</button>\n");
  if (measured.size() > 1) {
    page.add("<label>measured <select id=\"step\">\n");
    for (std::size_t i = 0; i < measured.size(); ++i) {
      page.add("<option value=\"{}\">step {}, {} ({})</option>\n", i, measured[i].step, text(measured[i].time), measured[i].what);
    }
    page.add("</select></label>\n");
  }
  page.add("<span class=\"note\">drag or arrow keys to pan, Ctrl + wheel or + and &#8722; to zoom, 0 for the whole</span>\n</div>\n");
  page.add("<div class=\"timeline\">\n<canvas class=\"axis\"></canvas>\n");
  panel(page, "predicted", step_text(predicted));
  panel(page, "measured", step_text(measured));
  page.add("</div>\n");
  legend(page, input, shades);
  page.add("<div id=\"tip\" hidden=\"\"></div>\n");
}

void memory(Page& page, const ReportInput& input, const std::vector<ChosenStep>& predicted,
            const std::vector<ChosenStep>& measured) {
  if (predicted.empty() || measured.empty()) return;
  const std::vector<MemoryUse> expected = memory_use(input.predicted, predicted.front().step, input.program);
  const std::vector<MemoryUse> seen = memory_use(input.measured, measured.front().step, input.program);
  const auto nothing = [](const MemoryUse& use) { return use.curve.empty() && use.peak.value == 0 && use.live_peak.value == 0; };
  if (std::all_of(expected.begin(), expected.end(), nothing) && std::all_of(seen.begin(), seen.end(), nothing)) return;
  const Picture before = arrange(input.predicted, predicted.front().step), after = arrange(input.measured, measured.front().step);
  const MemoryAxis axis{.length = std::max(before.end - before.start, after.end - after.start)};
  page.add("<h2>Memory</h2>\n<div class=\"memory\">\n");
  for (std::size_t r = 0; r < std::min(expected.size(), seen.size()); ++r) {
    Svg svg;
    draw_axis(svg, 30, kMemoryPanelHeight - 10, axis);
    draw_memory(svg, 0,
                {{.use = &expected[r], .start = before.start, .end = before.end, .tone = Tone::Predicted, .name = "predicted"},
                 {.use = &seen[r], .start = after.start, .end = after.end, .tone = Tone::Measured, .name = "measured"}},
                axis);
    page.add("{}", svg_document(svg, 1200, kMemoryPanelHeight + 12, fmt::format("Memory of rank {}", r), Standing::Inline, {}, 1));
  }
  page.add("</div>\n");
}

void operations(Page& page, const Comparison& comparison) {
  page.add("<div><h2>Operations</h2>\n<div class=\"scroll\"><table><thead><tr><th class=\"l\">operation</th><th>stage</th>");
  page.add("<th>a step</th><th>predicted</th><th>measured</th><th>error</th><th></th></tr></thead><tbody>\n");
  double largest = 0;
  for (const OpComparison& op : comparison.ops) largest = std::max(largest, std::abs(op.error));
  for (const OpComparison& op : comparison.ops) {
    const double width = largest == 0 ? 0 : 120 * std::abs(op.error) / largest;
    page.add("<tr><td class=\"l\">{} <span class=\"note\">{}</span></td>{}{}{}{}{}<td class=\"share\"><i class=\"{}\" style=\"width:{:.0f}px\"></i></td></tr>\n",
             name(op.op), meaning(paint_of(op.op)), cell(std::int64_t{op.stage}), cell(op.instructions), cell(op.predicted),
             cell(op.measured), cell(op.error, signed_percent(op.error)), op.error < 0 ? "low" : "high", width);
  }
  page.add("</tbody></table></div>\n<p class=\"note\">Medians of one operation. Error: (predicted - measured) / measured.</p></div>\n");
}

void ranks(Page& page, const Comparison& comparison) {
  page.add("<div><h2>Ranks</h2>\n<div class=\"scroll\"><table><thead><tr><th>rank</th><th>busy<br/>predicted</th><th>busy<br/>measured</th>");
  page.add("<th>idle<br/>predicted</th><th>idle<br/>measured</th><th>bubble<br/>predicted</th><th>bubble<br/>measured</th>");
  page.add("<th>peak memory<br/>predicted</th><th>peak memory<br/>measured</th></tr></thead><tbody>\n");
  for (const RankComparison& rank : comparison.ranks) {
    const auto bytes = [](Bytes b) { return cell(static_cast<double>(b.value), b.value == 0 ? "-" : text(b)); };
    page.add("<tr>{}{}{}{}{}{}{}{}{}</tr>\n", cell(std::int64_t{rank.rank.value}), cell(rank.predicted_busy),
             cell(rank.measured_busy), cell(rank.predicted_idle), cell(rank.measured_idle),
             cell(rank.predicted_bubble, percent(rank.predicted_bubble)), cell(rank.measured_bubble, percent(rank.measured_bubble)),
             bytes(rank.predicted_peak), bytes(rank.measured_peak));
  }
  page.add("</tbody></table></div>\n<p class=\"note\">Mean of a step. Idle is waiting: inside RECV, and between operations.</p></div>\n");
}

void provenance(Page& page, const ReportInput& input) {
  page.add("<h2>Where this comes from</h2>\n<dl class=\"provenance\">\n");
  const auto row = [&](std::string_view what, std::string_view value) {
    if (!value.empty()) page.add("<dt>{}</dt><dd>{}</dd>\n", xml_escaped(what), xml_escaped(value));
  };
  row("program", input.measured.name);
  row("plan digest", input.measured.plan_digest);
  const auto steps = [](const Timeline& timeline) {
    return fmt::format("{}, of which {} warm up", step_times(timeline).size(), timeline.warmup_steps);
  };
  row("predicted steps", steps(input.predicted));
  row("measured steps", steps(input.measured));
  for (const auto& [what, value] : input.provenance) row(what, value);
  row("weights digest", input.measured.weights_digest);
  row("written by", fmt::format("penstock {}", version()));
  page.add("</dl>\n");
}

}  // namespace

std::string write_report(const ReportInput& input) {
  const std::vector<ChosenStep> predicted = choose_steps(input.predicted), measured = choose_steps(input.measured);
  const std::int32_t shades = report_shades(input.predicted, input.measured);
  Page page;
  head(page, input, shades);
  summary(page, input);
  timelines(page, input, {predicted.begin(), predicted.begin() + (predicted.empty() ? 0 : 1)}, measured, shades);
  memory(page, input, predicted, measured);
  page.add("<div class=\"tables\">\n");
  operations(page, input.comparison);
  ranks(page, input.comparison);
  page.add("</div>\n");
  provenance(page, input);
  page.add("<script type=\"application/json\" id=\"data\">{}</script>\n",
           report_data(input.predicted, {predicted.begin(), predicted.begin() + (predicted.empty() ? 0 : 1)}, input.measured, measured));
  page.add("<script>\n{}{}{}</script>\n</body>\n</html>\n", kTimelineJs, kViewJs, kPageJs);
  return page.take();
}

}  // namespace penstock
