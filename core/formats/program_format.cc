#include "core/formats/program_format.h"

#include <fmt/format.h>

#include "core/archive.h"
#include "core/check/program_index.h"
#include "core/formats/contention_fields.h"

namespace penstock {
namespace {

// What the file says of a rank: its program, and its part of the tables that are by rank.
struct RankSection {
  RankProgram program;
  Bytes arena, live_peak;
  std::vector<Buffer> buffers;
};

constexpr std::size_t kBufferFields = 9;
constexpr Bounds kTimeBounds = between(0, static_cast<double>(kLongestTime.value));

template <class T>
bool read_element(ReadContext& context, const Value& row, std::size_t i, T& x) {
  const ReadContext::Step step(context, i);
  return read_field(context, row.array()[i], x);
}

}  // namespace

bool read_value(ReadContext& context, const Value& value, Instruction& x) {
  if (!check_kind(context, value, Value::Kind::String, "an instruction")) return false;
  Result<Instruction> parsed = parse_instruction(value.string());
  if (!parsed) return context.fail(value, std::move(parsed.error()));
  x = *parsed;
  return true;
}

void write_value(JsonWriter& writer, const Instruction& x) {
  writer.value(text(x));
}

bool read_value(ReadContext& context, const Value& value, Buffer& x) {
  if (!check_kind(context, value, Value::Kind::Array, "a buffer")) return false;
  if (value.array().size() != kBufferFields)
    return context.fail(
        value, fmt::format("a buffer has {} fields, not {}", kBufferFields, value.array().size()),
        "class, stage, microbatch, slice, owner, first, last, bytes, offset");
  return read_element(context, value, 0, x.cls) && read_element(context, value, 1, x.stage) &&
         read_element(context, value, 2, x.microbatch) &&
         read_element(context, value, 3, x.slice) && read_element(context, value, 4, x.owner) &&
         read_element(context, value, 5, x.first) && read_element(context, value, 6, x.last) &&
         read_element(context, value, 7, x.bytes) && read_element(context, value, 8, x.offset);
}

void write_value(JsonWriter& writer, const Buffer& x) {
  writer.begin_array(JsonWriter::Layout::Line);
  writer.value(enum_text(x.cls)).value(x.stage).value(x.microbatch).value(x.slice).value(x.owner);
  writer.value(x.first).value(x.last).value(x.bytes.value).value(x.offset.value);
  writer.end_array();
}

template <class A>
void describe(A& a, Segment& x) {
  a.required("kind", x.kind);
  if (A::kReading || x.memory_share > 0) a.optional("memory_share", x.memory_share, between(0, 1));
  a.required("duration_ns", x.duration, kTimeBounds);
  a.required("moved_bytes", x.bytes, at_least(0));
  if (A::kReading || x.group.valid()) a.optional("group", x.group);
  if (A::kReading || x.end_layer > 0) {
    a.optional("first_layer", x.first_layer, at_least(0));
    a.optional("end_layer", x.end_layer, at_least(0));
  }
}

template <class A>
void describe(A& a, Recipe& x) {
  a.required("name", x.name);
  a.required("segments", x.segments);
  double duration = 0;
  for (const Segment& segment : x.segments) duration += static_cast<double>(segment.duration.value);
  if (a.ok() && duration > static_cast<double>(kLongestRun.value))
    a.fail("segments", fmt::format("together they take {}", long_time(duration / 1e9)),
           "a recipe takes 18 years at most");
}

template <class A>
void describe(A& a, ProgramEdge& x) {
  a.required("from", x.from);
  a.required("to", x.to);
  a.required("source", x.source);
  a.required("destination", x.destination);
  a.required("payload", x.payload);
  a.required("kind", x.kind);
  a.required("message_bytes", x.bytes, at_least(0));
  a.required("distance", x.distance, at_least(0));
  a.required("tensors", x.tensors);
  if (A::kReading || x.samples > 0) {
    a.optional("first_sample", x.first_sample, at_least(0));
    a.optional("samples", x.samples, at_least(0));
  }
  if (A::kReading || x.send_buffer.valid()) a.optional("send_buffer", x.send_buffer);
  if (A::kReading || x.receive_buffer.valid()) a.optional("receive_buffer", x.receive_buffer);
  if (A::kReading || x.send_offset.value > 0)
    a.optional("send_offset_bytes", x.send_offset, at_least(0));
  if (A::kReading || x.receive_offset.value > 0)
    a.optional("receive_offset_bytes", x.receive_offset, at_least(0));
}

template <class A>
void describe(A& a, Group& x) {
  a.required("kind", x.kind);
  a.required("ranks", x.ranks);
  a.required("message_bytes", x.bytes, at_least(0));
  if (!A::kReading && x.kind != GroupKind::Gradients) return;
  a.optional("stage", x.stage);
  a.optional("offset_bytes", x.offset, at_least(0));
  a.optional("first_parameter", x.first_parameter, at_least(0));
  a.optional("end_parameter", x.end_parameter, at_least(0));
  a.optional("first_layer", x.first_layer, at_least(0));
}

template <class A>
void describe(A& a, ProgramStore& x) {
  a.required("name", x.name);
  a.required("network", x.network);
  a.required("stage", x.stage);
  a.required("rank", x.rank);
  a.required("copy", x.copy, at_least(0));
  a.required("kind", x.kind);
  a.required("versions", x.versions, at_least(1));
  a.required("shards", x.shards, at_least(1));
  if (A::kReading || x.layers > 0) a.optional("layers", x.layers, at_least(0));
  if (A::kReading || x.parameters > 0) a.optional("parameters", x.parameters, at_least(0));
  if (A::kReading || x.samples > 0) {
    a.optional("first_sample", x.first_sample, at_least(0));
    a.optional("samples", x.samples, at_least(0));
  }
  a.required("accumulation", x.accumulation.copies);
}

template <class A>
void describe(A& a, Stream& x) {
  a.required("kind", x.kind);
  if (A::kReading || x.edge.valid()) a.optional("edge", x.edge);
  if (A::kReading || !x.prologue.empty()) a.optional("prologue", x.prologue);
  a.required("body", x.body);
  if (A::kReading || !x.epilogue.empty()) a.optional("epilogue", x.epilogue);
}

template <class A>
void describe(A& a, RankSection& x) {
  a.required("device", x.program.device);
  if (A::kReading || x.program.host.valid()) a.optional("host", x.program.host);
  a.required("memory_limit_bytes", x.program.memory_limit, at_least(0));
  a.required("arena_bytes", x.arena, at_least(0));
  a.required("live_peak_bytes", x.live_peak, at_least(0));
  a.required("streams", x.program.streams);
  a.required("buffers", x.buffers);
}

template <class A>
void describe(A& a, Program& x) {
  a.required("name", x.name);
  a.required("body_steps", x.body_steps, at_least(1));
  a.required("body_microbatches", x.body_microbatches, at_least(1));
  a.required("stages", x.stages, at_least(1));
  if (A::kReading || x.microbatch_size != 1)
    a.optional("microbatch_size", x.microbatch_size, at_least(1));
  if (A::kReading || x.contention) a.optional("contention", x.contention);
  a.required("recipes", x.recipes);
  a.required("edges", x.edges);
  a.required("groups", x.groups);
  a.required("stores", x.stores);
  std::vector<RankSection> ranks;
  if constexpr (!A::kReading) {
    for (std::size_t r = 0; r < x.ranks.size(); ++r) {
      const std::span<const Buffer> buffers = x.buffers_of(RankId(static_cast<std::int64_t>(r)));
      ranks.push_back({x.ranks[r], x.arena[r], x.live_peak[r], {buffers.begin(), buffers.end()}});
    }
  }
  a.required("ranks", ranks);
  if constexpr (A::kReading) {
    std::size_t buffers = 0;
    for (const RankSection& rank : ranks) buffers += rank.buffers.size();
    x.buffers.reserve(buffers);
    x.first_buffer.reserve(ranks.size() + 1);
    x.first_buffer.push_back(0);
    for (RankSection& rank : ranks) {
      x.ranks.push_back(std::move(rank.program));
      x.arena.push_back(rank.arena);
      x.live_peak.push_back(rank.live_peak);
      x.buffers.insert(x.buffers.end(), rank.buffers.begin(), rank.buffers.end());
      x.first_buffer.push_back(x.buffers.size());
    }
  }
}

Result<Program> read_program(const Value& document, std::string file_name) {
  PENSTOCK_TRY(Program program, from_document<Program>(document, file_name, kProgramSchema));
  check_rules::Report report(1);
  check_rules::check_tables(program, report);
  for (const Violation& violation : report.take())
    return fail(Error{ErrorCode::BadInput, violation.message, Where{.file = std::move(file_name)},
                      "the file was damaged or edited: write it anew"});
  return program;
}

Result<Program> read_program(std::string_view text, std::string file_name) {
  PENSTOCK_TRY(const Value document, parse_json(text, file_name));
  return read_program(document, std::move(file_name));
}

std::string write_program(const Program& program) {
  return to_json(program, kProgramSchema);
}

}  // namespace penstock
