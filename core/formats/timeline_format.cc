#include "core/formats/timeline_format.h"

#include <fmt/format.h>

#include <set>

#include "core/archive.h"

namespace penstock {
namespace {

// A row of the file: its length, its fields one by one.
bool check_row(ReadContext& context, const Value& value, std::size_t least, std::size_t most,
               const char* fields) {
  if (!check_kind(context, value, Value::Kind::Array, "a row")) return false;
  const std::size_t size = value.array().size();
  if (size >= least && size <= most) return true;
  return context.fail(value, fmt::format("a row of {} fields", size),
                      fmt::format("a row is [{}]", fields));
}

template <class T>
bool read_element(ReadContext& context, const Value& row, std::size_t i, T& x) {
  const ReadContext::Step step(context, i);
  return read_field(context, row.array()[i], x);
}

// "F 0.3", and of a transfer with its edge: "SEND 0.3 e1".
bool read_key(ReadContext& context, const Value& row, std::size_t i, Span& span) {
  const ReadContext::Step step(context, i);
  const Value& value = row.array()[i];
  if (!check_kind(context, value, Value::Kind::String, "an instruction's key")) return false;
  Result<Instruction> parsed = parse_instruction(value.string());
  if (!parsed) return context.fail(value, std::move(parsed.error()));
  const std::int32_t target = is_transfer(parsed->key.op) ? parsed->target : -1;
  if (*parsed != Instruction{.key = parsed->key, .target = target})
    return context.fail(value, fmt::format("'{}' is more than a key", value.string()),
                        "a key reads like 'F 0.3', or 'SEND 0.3 e1'");
  span.key = parsed->key;
  span.edge = EdgeId(target);
  return true;
}

}  // namespace

bool read_value(ReadContext& context, const Value& value, Track& x) {
  return check_row(context, value, 2, 2, "rank, lane") && read_element(context, value, 0, x.rank) &&
         read_element(context, value, 1, x.lane);
}
void write_value(JsonWriter& writer, const Track& x) {
  writer.begin_array(JsonWriter::Layout::Line).value(x.rank.value).value(x.lane).end_array();
}

// [track, step, start, end, key], with a label's number in place of the key, or after it.
bool read_value(ReadContext& context, const Value& value, Span& x) {
  if (!check_row(context, value, 5, 6, "track, step, start, end, key or label") ||
      !read_element(context, value, 0, x.track) || !read_element(context, value, 1, x.step) ||
      !read_element(context, value, 2, x.start) || !read_element(context, value, 3, x.end))
    return false;
  if (value.array().size() == 6)
    return read_key(context, value, 4, x) && read_element(context, value, 5, x.label);
  if (value.array()[4].is_integer()) return read_element(context, value, 4, x.label);
  return read_key(context, value, 4, x);
}
void write_value(JsonWriter& writer, const Span& x) {
  writer.begin_array(JsonWriter::Layout::Line)
      .value(x.track)
      .value(x.step)
      .value(x.start.value)
      .value(x.end.value);
  if (x.label < 0 || x.key != InstructionKey{})
    writer.value(text(Instruction{.key = x.key, .target = x.edge.value}));
  if (x.label >= 0) writer.value(x.label);
  writer.end_array();
}

bool read_value(ReadContext& context, const Value& value, CounterPoint& x) {
  return check_row(context, value, 3, 3, "counter, time, value") &&
         read_element(context, value, 0, x.counter) && read_element(context, value, 1, x.time) &&
         read_element(context, value, 2, x.value);
}
void write_value(JsonWriter& writer, const CounterPoint& x) {
  writer.begin_array(JsonWriter::Layout::Line)
      .value(x.counter)
      .value(x.time.value)
      .value(x.value)
      .end_array();
}

bool read_value(ReadContext& context, const Value& value, Flow& x) {
  return check_row(context, value, 2, 2, "span, span") && read_element(context, value, 0, x.from) &&
         read_element(context, value, 1, x.to);
}
void write_value(JsonWriter& writer, const Flow& x) {
  writer.begin_array(JsonWriter::Layout::Line).value(x.from).value(x.to).end_array();
}

template <class A>
void describe(A& a, Counter& x) {
  a.required("rank", x.rank);
  a.required("name", x.name);
  a.required("unit", x.unit);
}

constexpr double kMostRanks = 1 << 20;
// Times count from any origin: differences of two, and sums of two of those, fit into 64 bits.
bool is_time(Nanoseconds t) {
  return t >= -kForever && t <= kForever;
}

// What reading must find true, or the field and the row that are not.
template <class A>
void check_references(A& a, const Timeline& x) {
  const auto refuse = [&](const char* key, std::size_t row, std::string_view what) {
    a.fail(key, fmt::format("row {} of {} {}", row, key, what),
           "the file was damaged or edited: write it anew");
  };
  const auto is_rank = [&](RankId rank) { return rank.valid() && rank.value < x.ranks; };
  std::set<RankId> computing;
  for (std::size_t i = 0; i < x.tracks.size(); ++i) {
    if (!is_rank(x.tracks[i].rank)) return refuse("tracks", i, "is of a rank that is not there");
    if (x.tracks[i].lane == kComputeLane && !computing.insert(x.tracks[i].rank).second)
      return refuse("tracks", i, "is a second compute lane of its rank");
  }
  for (std::size_t i = 0; i < x.counters.size(); ++i)
    if (!is_rank(x.counters[i].rank))
      return refuse("counters", i, "is of a rank that is not there");
  for (std::size_t i = 0; i < x.spans.size(); ++i) {
    const Span& span = x.spans[i];
    if (span.track >= x.tracks.size()) return refuse("spans", i, "is of a track that is not there");
    if (span.label >= static_cast<std::int64_t>(x.labels.size()))
      return refuse("spans", i, "has a label that is not there");
    if (!is_time(span.start) || !is_time(span.end))
      return refuse("spans", i, "is further than 73 years from the origin");
    if (span.end < span.start) return refuse("spans", i, "ends before it starts");
    if (i == 0) continue;
    const Span& before = x.spans[i - 1];
    if (before.track > span.track || (before.track == span.track && before.end > span.start))
      return refuse("spans", i, "overlaps the row before it, or should come before it");
  }
  for (std::size_t i = 0; i < x.points.size(); ++i) {
    if (x.points[i].counter >= x.counters.size())
      return refuse("points", i, "is of a counter that is not there");
    if (!is_time(x.points[i].time))
      return refuse("points", i, "is further than 73 years from the origin");
  }
  for (std::size_t i = 0; i < x.flows.size(); ++i)
    if (x.flows[i].from >= x.spans.size() || x.flows[i].to >= x.spans.size())
      return refuse("flows", i, "joins spans that are not there");
  for (const auto& [key, list] :
       {std::pair("peak_memory_bytes", &x.peak_memory), std::pair("live_peak_bytes", &x.live_peak)})
    if (!list->empty() && list->size() != static_cast<std::size_t>(x.ranks))
      return a.fail(key, fmt::format("{} entries for {} ranks", list->size(), x.ranks),
                    "one a rank, or none");
}

template <class A>
void describe(A& a, Timeline& x) {
  a.required("origin", x.origin);
  a.required("name", x.name);
  a.required("plan_digest", x.plan_digest);
  a.required("ranks", x.ranks, between(0, kMostRanks));
  a.required("warmup_steps", x.warmup_steps, at_least(0));
  a.required("peak_memory_bytes", x.peak_memory, at_least(0));
  a.required("live_peak_bytes", x.live_peak, at_least(0));
  a.required("losses", x.losses);
  a.required("weights_digest", x.weights_digest);
  a.required("labels", x.labels);
  a.required("tracks", x.tracks);
  a.required("counters", x.counters);
  a.required("spans", x.spans);
  a.required("points", x.points);
  a.required("flows", x.flows);
  if constexpr (A::kReading)
    if (a.ok()) check_references(a, x);
}

Result<Timeline> read_timeline(const Value& document, std::string file_name) {
  return from_document<Timeline>(document, std::move(file_name), kTimelineSchema);
}

Result<Timeline> read_timeline(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_json(text, file_name));
  return read_timeline(document, std::move(file_name));
}

std::string write_timeline(const Timeline& timeline) {
  return to_json(timeline, kTimelineSchema);
}

}  // namespace penstock
