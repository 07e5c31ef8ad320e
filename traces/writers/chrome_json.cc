#include "traces/writers/chrome_json.h"

#include <fmt/format.h>

#include <iterator>

#include "core/json.h"

namespace penstock {
namespace {

// Events are many and of few shapes: written straight, one a line. Names go through the JSON writer's escaping.
class Events {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    text_ += text_.empty() ? "\n  {" : ",\n  {";
    fmt::format_to(std::back_inserter(text_), form, std::forward<Arguments>(arguments)...);
    text_ += '}';
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string microseconds(Nanoseconds t) {
  const std::int64_t ns = t.value;
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000, (ns < 0 ? -ns : ns) % 1000);
}

// Thread 0 is an idle thread to those who read traces of Linux, and Perfetto is one of them.
std::size_t thread(std::size_t track) { return track + 1; }

std::string quoted(std::string_view text) { return to_json(Value(std::string(text)), 0); }

std::string event_name(const Timeline& timeline, const Span& span) {
  return span.label >= 0 ? timeline.labels[static_cast<std::size_t>(span.label)] : text(span.key);
}

std::string_view category(Op op) {
  if (op == Op::Send || op == Op::Recv || op == Op::Xchg) return "p2p";
  if (op == Op::Step) return "optimizer";
  return is_compute(op) || op == Op::Loss ? "compute" : "other";
}

}  // namespace

std::string write_chrome_json(const Timeline& timeline) {
  Events events;
  for (std::int32_t rank = 0; rank < timeline.ranks; ++rank) {
    events.add(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":"rank {}"}})", rank, rank);
    events.add(R"("ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}})", rank, rank);
  }
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const Track& track = timeline.tracks[t];
    events.add(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", track.rank.value, thread(t), quoted(track.lane));
    events.add(R"("ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}})", track.rank.value, thread(t), t);
  }
  for (const Span& span : timeline.spans) {
    const Track& track = timeline.tracks[span.track];
    events.add(R"("ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{"op":"{}","stage":{},"microbatch":{},"step":{}}})",
               track.rank.value, thread(span.track), microseconds(span.start), microseconds(span.end - span.start),
               quoted(event_name(timeline, span)), category(span.key.op), name(span.key.op), span.key.stage, span.key.microbatch,
               span.step);
  }
  for (std::size_t f = 0; f < timeline.flows.size(); ++f) {
    const Span& from = timeline.spans[timeline.flows[f].from];
    const Span& to = timeline.spans[timeline.flows[f].to];
    events.add(R"("ph":"s","id":{},"pid":{},"tid":{},"ts":{},"name":"message","cat":"p2p")", f,
               timeline.tracks[from.track].rank.value, thread(from.track), microseconds(from.start));
    events.add(R"("ph":"f","bp":"e","id":{},"pid":{},"tid":{},"ts":{},"name":"message","cat":"p2p")", f,
               timeline.tracks[to.track].rank.value, thread(to.track), microseconds(to.start));
  }
  for (const CounterPoint& point : timeline.points) {
    const Counter& counter = timeline.counters[point.counter];
    events.add(R"("ph":"C","pid":{},"ts":{},"name":{},"args":{{"{}":{}}})", counter.rank.value, microseconds(point.time),
               quoted(counter.name), counter.unit, point.value);
  }
  return fmt::format("{{\n\"displayTimeUnit\": \"ms\",\n\"otherData\": {{\"name\": {}}},\n\"traceEvents\": [{}\n]\n}}\n",
                     quoted(timeline.name), events.text());
}

}  // namespace penstock
