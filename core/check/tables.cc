#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

bool within(std::int64_t index, std::size_t size) {
  return index >= 0 && index < static_cast<std::int64_t>(size);
}

// Sizes, offsets, and what the rows of a rank add up to: whoever adds one to another need not look for overflow.
constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max() / 16;

bool is_size(Bytes bytes) {
  return within(bytes.value, kMostBytes);
}

class Tables {
 public:
  Tables(const Program& program, Report& report) : program_(program), report_(report) {}

  void check() {
    const std::size_t ranks = program_.ranks.size();
    if (ranks == 0) refuse("the program has no ranks");
    if (program_.microbatch_size < 1) refuse("a microbatch has at least one sample");
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
    for (std::size_t i = 0; i < program_.groups.size() && !report_.full(); ++i)
      group(i, program_.groups[i]);
    for (std::size_t i = 0; i < program_.stores.size(); ++i)
      if (!within(program_.stores[i].rank.value, ranks) ||
          !is_stage(program_.stores[i].stage.value))
        refuse(fmt::format("store {} is of a stage or rank that is not there", i));
      else if (program_.stores[i].copy < 0 || program_.stores[i].first_sample < 0 ||
               program_.stores[i].samples < 0 ||
               (program_.stores[i].samples == 0 && program_.stores[i].first_sample > 0))
        refuse(fmt::format("store {} has a negative copy or sample, or a first sample of none", i));
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

  void group(std::size_t i, const Group& group) {
    std::vector<RankId> seen = group.ranks;
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (seen.empty())
      refuse(fmt::format("group {} has no members", i));
    else if (twice != seen.end())
      refuse(fmt::format("group {} names rank {} twice", i, twice->value), {*twice});
    else if (!within(seen.front().value, program_.ranks.size()) ||
             !within(seen.back().value, program_.ranks.size()))
      refuse(fmt::format("group {} names rank {}, which is not there", i,
                         within(seen.front().value, program_.ranks.size()) ? seen.back().value
                                                                           : seen.front().value));
    bool right = is_size(group.bytes) && is_size(group.offset) && group.first_layer >= 0;
    if (group.kind == GroupKind::Gradients)
      right = right && is_stage(group.stage.value) && group.first_parameter >= 0 &&
              group.first_parameter < group.end_parameter;
    else
      right = right && !group.stage.valid() && group.offset.value == 0 &&
              group.first_parameter == 0 && group.end_parameter == 0 && group.first_layer == 0;
    if (!right)
      refuse(fmt::format("group {} has a stage, parameters, offset or size that cannot be", i));
  }

  // A row of its own, or of an edge that has one.
  bool lends(EdgeId owner, EdgeId ProgramEdge::* buffer) const {
    return !owner.valid() || (within(owner.value, program_.edges.size()) &&
                              !(program_.edges[owner.index()].*buffer).valid());
  }

  void edges() {
    for (std::size_t i = 0; i < program_.edges.size(); ++i) {
      const ProgramEdge& edge = program_.edges[i];
      if (!within(edge.source.value, program_.ranks.size()) ||
          !within(edge.destination.value, program_.ranks.size()) || !is_stage(edge.from.value) ||
          !is_stage(edge.to.value))
        refuse(fmt::format("edge {} joins stages or ranks that are not there", i));
      if (!lends(edge.send_buffer, &ProgramEdge::send_buffer) ||
          !lends(edge.receive_buffer, &ProgramEdge::receive_buffer) ||
          !is_size(edge.send_offset) || !is_size(edge.receive_offset))
        refuse(fmt::format("edge {} lies in the buffer of an edge that has none", i));
      if (edge.first_sample < 0 || edge.samples < 0 ||
          edge.samples > program_.microbatch_size - edge.first_sample ||
          (edge.samples == 0 && edge.first_sample > 0))
        refuse(fmt::format("edge {} carries samples that a microbatch of {} does not have", i,
                           program_.microbatch_size));
      if (!is_size(edge.bytes) || edge.distance < 0)
        refuse(fmt::format("edge {} has a size or distance that cannot be", i));
    }
  }

  void recipes() {
    for (std::size_t i = 0; i < program_.recipes.size() && !report_.full(); ++i) {
      const std::vector<Segment>& segments = program_.recipes[i].segments;
      if (segments.empty()) refuse(fmt::format("recipe {} has no segments", i));
      for (const Segment& segment : segments) {
        if (segment.first_layer < 0 || segment.end_layer < 0 ||
            (segment.end_layer == 0 && segment.first_layer > 0))
          refuse(fmt::format("recipe {} covers layers below the first, or from one on none", i));
        if (segment.group.valid() && !within(segment.group.value, program_.groups.size()))
          refuse(fmt::format("recipe {} names group {}, which is not there", i,
                             segment.group.value));
      }
    }
  }

  void streams(std::size_t rank) {
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    if (streams.empty() || streams[0].kind != StreamKind::Compute)
      return refuse(fmt::format("rank {} does not begin with a compute stream", rank),
                    {rank_id(rank)});
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (s > 0 && streams[s].kind == StreamKind::Compute)
        refuse(fmt::format("stream {} of rank {} is a second compute stream", s, rank),
               {rank_id(rank)});
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
    Bytes sum;
    for (std::size_t i = program_.first_buffer[rank]; i < program_.first_buffer[rank + 1]; ++i) {
      const Buffer& buffer = program_.buffers[i];
      bool right = is_stage(buffer.stage) && is_size(buffer.bytes) && is_size(buffer.offset) &&
                   buffer.first <= buffer.last;
      if (right) sum += align_up(buffer.bytes, kTensorAlignment);
      right = right && is_size(sum);
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
