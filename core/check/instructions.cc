// What an instruction says of itself beside its place: the key that names it, and the recipe it is
// made of.

#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

constexpr SegmentKind segment_kind(Op op) {
  return is_transfer(op)     ? SegmentKind::Transfer
         : is_collective(op) ? SegmentKind::Collective
                             : SegmentKind::Compute;
}

class Instructions {
 public:
  Instructions(const Program& program, Report& report) : program_(program), report_(report) {
    for (const ProgramStore& store : program.stores) {
      network(store.stage.value, store.network.value);
      copies_.emplace(std::pair(store.stage.value, store.rank.value), store.copy);
    }
  }

  void check() {
    if (program_.body_steps != 1)
      report_.add("R10", fmt::format("a repetition of the body is said to be {} steps; its stores "
                                     "are stepped once in it",
                                     program_.body_steps));
    for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
      rank_ = r;
      buckets_.clear();
      const std::vector<Stream>& streams = program_.ranks[r].streams;
      for (std::size_t s = 0; s < streams.size(); ++s) {
        for (const auto section : {&Stream::prologue, &Stream::body, &Stream::epilogue})
          for (const Instruction& instruction : streams[s].*section) {
            if (report_.full()) return;
            waits(s, instruction);
            key(instruction);
            if (instruction.recipe >= 0) recipe(instruction);
          }
      }
    }
  }

 private:
  void refuse(std::string_view rule, const Instruction& instruction, const std::string& what) {
    report_.add(rule, fmt::format("rank {}: '{}' {}", rank_, brief(instruction), what),
                {rank_id(rank_)}, {brief(instruction)});
  }

  // Of a stage: what its stores say, else the first that is said.
  std::int32_t network(std::int32_t stage, std::int32_t said) {
    return networks_.try_emplace(stage, said).first->second;
  }

  void waits(std::size_t stream, const Instruction& instruction) {
    const bool waits = instruction.key.op == Op::Wait;
    if (waits && instruction.after_stream < 0)
      refuse("R5", instruction, "waits for nothing");
    else if (instruction.after_stream == static_cast<std::int32_t>(stream))
      refuse("R5", instruction,
             fmt::format("waits for instruction {} of its own stream, whose order says so, or never "
                         "lets it come",
                         instruction.after_index));
  }

  void key(const Instruction& instruction) {
    const InstructionKey& key = instruction.key;
    if (const std::int32_t whole = network(key.stage, key.network); key.network != whole)
      refuse("keys", instruction,
             fmt::format("is of network {}; stage {} is of network {}", key.network, key.stage,
                         whole));
    if (key.step != 0)
      refuse("keys", instruction, fmt::format("is of step {} of a body of one step", key.step));
    if (key.op != Op::Step && !is_collective(key.op)) return;
    if (key.microbatch != -1)
      refuse("keys", instruction,
             fmt::format("is of microbatch {}; it is of all of them", key.microbatch));
    const auto copy = copies_.find({key.stage, static_cast<std::int32_t>(rank_)});
    // Whose rank that is not is another rule's.
    if (key.op == Op::Step) {
      const ProgramStore& store = program_.stores[static_cast<std::size_t>(instruction.target)];
      if (store.copy != key.direction) wrong_copy(instruction, store.copy);
    } else if (copy != copies_.end() && copy->second != key.direction) {
      wrong_copy(instruction, copy->second);
    }
    std::int32_t slice = 0;
    if (key.op == Op::AllReduce || key.op == Op::ReduceScatter) {
      const Group& group = program_.groups[static_cast<std::size_t>(instruction.target)];
      if (group.kind == GroupKind::Gradients) {
        if (group.stage.value != key.stage)
          refuse("keys", instruction,
                 fmt::format("adds up gradients of stage {}", group.stage.value));
        slice = buckets_[key.stage]++;
      }
    }
    if (key.slice != slice)
      refuse("keys", instruction, fmt::format("is numbered {}, where {} is next", key.slice, slice));
  }
  void wrong_copy(const Instruction& instruction, std::int32_t copy) {
    refuse("keys", instruction,
           fmt::format("is of copy {}; the rank holds copy {}", instruction.key.direction, copy));
  }

  void recipe(const Instruction& instruction) {
    const Op op = instruction.key.op;
    const Recipe& recipe = program_.recipes[static_cast<std::size_t>(instruction.recipe)];
    if (op == Op::Wait)
      return refuse("recipes", instruction, "has a recipe, and waiting is all that it does");
    for (const Segment& segment : recipe.segments) {
      const Segment& first = recipe.segments.front();
      if (segment.kind != segment_kind(op))
        return refuse("recipes", instruction,
                      fmt::format("is made of '{}', of which a part is a {}", recipe.name,
                                  enum_names(SegmentKind())[static_cast<std::size_t>(segment.kind)]
                                      .second));
      if (segment.end_layer > 0 && op != Op::BF)
        return refuse("recipes", instruction,
                      fmt::format("is made of '{}', which is of some layers only; only BF comes in "
                                  "parts",
                                  recipe.name));
      if (segment.first_layer != first.first_layer || segment.end_layer != first.end_layer)
        return refuse("recipes", instruction,
                      fmt::format("is made of '{}', whose segments name different layers",
                                  recipe.name));
      if (segment.group.valid() &&
          (!is_collective(op) || segment.group.value != instruction.target))
        return refuse("recipes", instruction,
                      fmt::format("is made of '{}', which is of group {}", recipe.name,
                                  segment.group.value));
      if (!is_collective(op)) continue;
      const Bytes bytes = program_.groups[static_cast<std::size_t>(instruction.target)].bytes;
      if (segment.bytes != bytes)
        return refuse("recipes", instruction,
                      fmt::format("moves {} bytes; its group's members have {}",
                                  segment.bytes.value, bytes.value));
    }
  }

  const Program& program_;
  Report& report_;
  std::size_t rank_ = 0;
  std::unordered_map<std::int32_t, std::int32_t> networks_;  // by stage, whose number a file may say as it likes
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> copies_;  // by stage and rank
  std::map<std::uint16_t, std::int32_t> buckets_;  // of the rank at hand, by stage: added up so far
};

}  // namespace

void check_instructions(const Program& program, Report& report) {
  Instructions(program, report).check();
}

}  // namespace penstock::check_rules
