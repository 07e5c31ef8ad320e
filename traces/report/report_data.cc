#include "traces/report/report_data.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "core/json.h"
#include "traces/writers/palette.h"
#include "traces/writers/picture.h"

namespace penstock {
namespace {

// Numbers for names, in order of first use.
class Names {
 public:
  std::size_t number(const std::string& name) {
    const auto [entry, is_new] = numbers_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
};

template <class Function>
void array(JsonWriter& json, std::string_view key, const Picture& picture, Function value_of) {
  json.key(key).begin_array();
  for (std::size_t i = 0; i < picture.spans.size(); ++i) json.value(value_of(i));
  json.end_array();
}

void write_step(JsonWriter& json, const Timeline& timeline, std::int32_t step, Names& names) {
  const Picture picture = arrange(timeline, step);
  const auto span = [&](std::size_t i) -> const Span& { return timeline.spans[picture.spans[i]]; };
  json.begin_object().member("total", (picture.end - picture.start).value).key("lanes").begin_array();
  for (const Lane& lane : picture.lanes) {
    json.begin_array().value(lane.rank.value).value(lane.name).value(lane.compute).value(lane.depth).end_array();
  }
  json.end_array();
  array(json, "lane", picture, [&](std::size_t i) { return picture.lane[i]; });
  array(json, "row", picture, [&](std::size_t i) { return picture.row[i]; });
  array(json, "start", picture, [&](std::size_t i) { return (span(i).start - picture.start).value; });
  array(json, "length", picture, [&](std::size_t i) { return (span(i).end - span(i).start).value; });
  array(json, "paint", picture, [&](std::size_t i) { return static_cast<int>(paint_of_span(span(i))); });
  array(json, "shade", picture, [&](std::size_t i) { return picture.shade[i]; });
  array(json, "busy", picture, [&](std::size_t i) { return is_busy(span(i)) ? 1 : 0; });
  array(json, "label", picture, [&](std::size_t i) { return short_names(span(i)).empty() ? -1 : span(i).key.microbatch; });
  array(json, "name", picture, [&](std::size_t i) { return names.number(span_name(timeline, span(i))); });
  json.end_object();
}

void write_panel(JsonWriter& json, std::string_view name, const Timeline& timeline, const std::vector<ChosenStep>& steps,
                 Names& names) {
  json.begin_object().member("name", name).key("steps").begin_array();
  for (const ChosenStep& chosen : steps) write_step(json, timeline, chosen.step, names);
  if (steps.empty()) write_step(json, timeline, 0, names);
  json.end_array().end_object();
}

}  // namespace

std::vector<ChosenStep> choose_steps(const Timeline& timeline) {
  std::set<std::int32_t> numbers;
  for (const Span& span : timeline.spans) numbers.insert(span.step);
  const std::vector<Nanoseconds> times = step_times(timeline);
  PENSTOCK_CHECK(numbers.size() == times.size(), "a step time for each step that has spans");
  std::vector<ChosenStep> steps;
  for (const std::int32_t number : numbers) steps.push_back({.step = number, .time = times[steps.size()], .what = ""});
  const bool any_after = !steps.empty() && steps.back().step >= timeline.warmup_steps;
  if (any_after) std::erase_if(steps, [&](const ChosenStep& s) { return s.step < timeline.warmup_steps; });
  if (steps.empty()) return {};
  const Nanoseconds median = iteration_time(timeline);
  const auto away = [&](const ChosenStep& s) { return std::abs((s.time - median).value); };
  const auto faster = [](const ChosenStep& a, const ChosenStep& b) { return a.time < b.time; };
  std::vector<ChosenStep> out = {*std::min_element(steps.begin(), steps.end(), [&](const ChosenStep& a, const ChosenStep& b) {
    return away(a) < away(b);
  })};
  out.front().what = "nearest the median";
  const auto add = [&](const ChosenStep& step, std::string what) {
    if (std::any_of(out.begin(), out.end(), [&](const ChosenStep& s) { return s.step == step.step; })) return;
    out.push_back({.step = step.step, .time = step.time, .what = std::move(what)});
  };
  add(*std::min_element(steps.begin(), steps.end(), faster), "fastest");
  add(*std::max_element(steps.begin(), steps.end(), faster), "slowest");
  return out;
}

std::int32_t report_shades(const Timeline& predicted, const Timeline& measured) {
  return std::max(arrange(predicted, kAllSteps).shades, arrange(measured, kAllSteps).shades);
}

std::string report_data(const Timeline& predicted, const std::vector<ChosenStep>& predicted_steps, const Timeline& measured,
                        const std::vector<ChosenStep>& measured_steps) {
  Names names;
  JsonWriter json(0);
  json.begin_object().member("shades", report_shades(predicted, measured)).key("paints").begin_array();
  for (std::size_t p = 0; p < kPaints; ++p) {
    const auto paint = static_cast<Paint>(p);
    const std::string css = paint_class(paint, 0);
    json.begin_object().member("css", css.substr(0, css.size() - 1)).member("letter", letter(paint));
    json.member("meaning", meaning(paint)).end_object();
  }
  json.end_array().key("panels").begin_array();
  write_panel(json, "predicted", predicted, predicted_steps, names);
  write_panel(json, "measured", measured, measured_steps, names);
  json.end_array().key("names").begin_array();
  for (const std::string& name : names.all()) json.value(name);
  json.end_array().end_object();
  const std::string text = json.take();
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace penstock
