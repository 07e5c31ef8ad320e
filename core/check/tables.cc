#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

bool within(std::int64_t index, std::size_t size) {
  return index >= 0 && index < static_cast<std::int64_t>(size);
}

class Tables {
 public:
  Tables(const Program& program, Report& report) : program_(program), report_(report) {}

  void check() {
    const std::size_t ranks = program_.ranks.size();
    if (ranks == 0) refuse("the program has no ranks");
    if (program_.stages < 1 || program_.body_microbatches < 1 || program_.body_steps < 1)
      refuse("a program has at least one stage, and its body at least one step and one microbatch");
    if (program_.first_buffer.size() != ranks + 1 || program_.first_buffer.front() != 0 ||
        program_.first_buffer.back() != program_.buffers.size())
      return refuse("first_buffer does not divide the buffers among the ranks");
    for (std::size_t r = 0; r < ranks; ++r)
      if (program_.first_buffer[r] > program_.first_buffer[r + 1])
        return refuse("first_buffer does not ascend");
    if (program_.arena.size() != ranks || program_.live_peak.size() != ranks)
      return refuse("arena and live_peak need one entry for each rank");
    edges();
    recipes();
    for (std::size_t i = 0; i < program_.groups.size(); ++i)
      for (const RankId rank : program_.groups[i].ranks)
        if (!within(rank.value, ranks))
          refuse(fmt::format("group {} names rank {}", i, rank.value));
    for (std::size_t i = 0; i < program_.stores.size(); ++i)
      if (!within(program_.stores[i].rank.value, ranks) ||
          !is_stage(program_.stores[i].stage.value))
        refuse(fmt::format("store {} is of a stage or rank that is not there", i));
    for (std::size_t r = 0; r < ranks && !report_.full(); ++r) {
      streams(r);
      buffers(r);
    }
  }

 private:
  void refuse(std::string message, std::vector<RankId> ranks = {},
              std::vector<std::string> instructions = {}) {
    report_.add("tables", std::move(message), std::move(ranks), std::move(instructions));
  }

  static bool serves_an_edge(const Stream& stream) {
    return stream.kind == StreamKind::Send || stream.kind == StreamKind::Receive;
  }

  bool is_stage(std::int64_t stage) const {
    return within(stage, static_cast<std::size_t>(program_.stages));
  }

  void edges() {
    for (std::size_t i = 0; i < program_.edges.size(); ++i) {
      const ProgramEdge& edge = program_.edges[i];
      if (!within(edge.source.value, program_.ranks.size()) ||
          !within(edge.destination.value, program_.ranks.size()) || !is_stage(edge.from.value) ||
          !is_stage(edge.to.value))
        refuse(fmt::format("edge {} joins stages or ranks that are not there", i));
      if (edge.bytes.value < 0 || edge.distance < 0)
        refuse(fmt::format("edge {} has a negative size or distance", i));
    }
  }

  void recipes() {
    for (std::size_t i = 0; i < program_.recipes.size() && !report_.full(); ++i) {
      const std::vector<Segment>& segments = program_.recipes[i].segments;
      if (segments.empty()) refuse(fmt::format("recipe {} has no segments", i));
      for (const Segment& segment : segments)
        if (segment.group.valid() && !within(segment.group.value, program_.groups.size()))
          refuse(fmt::format("recipe {} names group {}, which is not there", i,
                             segment.group.value));
    }
  }

  void streams(std::size_t rank) {
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    if (streams.empty() || streams[0].kind != StreamKind::Compute)
      return refuse(fmt::format("rank {} does not begin with a compute stream", rank),
                    {rank_id(rank)});
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const bool serves = serves_an_edge(streams[s]);
      if ((serves || streams[s].edge.valid()) &&
          !within(streams[s].edge.value, program_.edges.size()))
        refuse(fmt::format("stream {} of rank {} serves edge {}, which is not there", s, rank,
                           streams[s].edge.value),
               {rank_id(rank)});
      section(rank, s, &Stream::prologue);
      section(rank, s, &Stream::body);
      section(rank, s, &Stream::epilogue);
    }
  }

  void section(std::size_t rank, std::size_t stream, std::vector<Instruction> Stream::*part) {
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    for (const Instruction& instruction : streams[stream].*part) {
      const char* wrong = nullptr;
      if (!is_stage(instruction.key.stage)) wrong = "a stage that is not there";
      if (instruction.recipe >= 0 && !within(instruction.recipe, program_.recipes.size()))
        wrong = "a recipe that is not there";
      const Target target = target_of(instruction.key.op);
      const std::size_t table = target == Target::Edge    ? program_.edges.size()
                                : target == Target::Store ? program_.stores.size()
                                                          : program_.groups.size();
      if (target != Target::None && !within(instruction.target, table))
        wrong = "a target that is not there";
      else if (target == Target::Edge && serves_an_edge(streams[stream]) &&
               instruction.target != streams[stream].edge.value)
        wrong = "another edge than the one its stream serves";
      if (instruction.after_stream >= 0) {
        if (!within(instruction.after_stream, streams.size()) ||
            instruction.after_index >=
                (streams[static_cast<std::size_t>(instruction.after_stream)].*part).size())
          wrong = "an instruction to wait for that is not there";
      }
      if (wrong == nullptr) continue;
      refuse(fmt::format("rank {}: '{}' names {}", rank, text(instruction), wrong), {rank_id(rank)},
             {text(instruction)});
      if (report_.full()) return;
    }
  }

  void buffers(std::size_t rank) {
    for (std::size_t i = program_.first_buffer[rank]; i < program_.first_buffer[rank + 1]; ++i) {
      const Buffer& buffer = program_.buffers[i];
      bool right = is_stage(buffer.stage) && buffer.bytes.value >= 0 && buffer.offset.value >= 0 &&
                   buffer.first <= buffer.last;
      if (!is_persistent(buffer.cls))
        right = right &&
                within(buffer.microbatch, static_cast<std::size_t>(program_.body_microbatches));
      if (buffer.cls == BufferClass::SendBuffer || buffer.cls == BufferClass::ReceiveBuffer)
        right = right && within(buffer.owner, program_.edges.size());
      if (!right)
        refuse(fmt::format("buffer {} of rank {} has a stage, owner, microbatch, size or lifetime "
                           "that cannot be",
                           i - program_.first_buffer[rank], rank),
               {rank_id(rank)});
    }
  }

  const Program& program_;
  Report& report_;
};

}  // namespace

void check_tables(const Program& program, Report& report) {
  Tables(program, report).check();
}

}  // namespace penstock::check_rules
