#include <algorithm>
#include <array>
#include <utility>
#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

constexpr bool is_understood(Op op) {
  return op <= Op::Loss || is_transfer(op) || op == Op::AllReduce || op == Op::ReduceScatter ||
         op == Op::Gather || op == Op::Step || op == Op::Wait;
}

class Coverage {
 public:
  Coverage(const Program& program, Report& report) : program_(program), report_(report) {}

  ProgramIndex run() {
    if (!measure(program_, index_, report_)) return std::move(index_);
    for (std::size_t r = 0; r < program_.ranks.size() && !report_.full(); ++r) {
      const std::vector<Stream>& streams = program_.ranks[r].streams;
      last_compute_ = kAbsent;
      for (std::size_t s = 0; s < streams.size(); ++s) {
        for (const Instruction& instruction : streams[s].prologue)
          outside(r, instruction, "prologue");
        for (std::uint32_t i = 0; i < streams[s].body.size(); ++i)
          inside(r, s, i, streams[s].body[i]);
        for (const Instruction& instruction : streams[s].epilogue)
          outside(r, instruction, "epilogue");
      }
      transfers(r);
    }
    missing();
    return std::move(index_);
  }

 private:
  using Cell = ProgramIndex::Cell;

  bool understood(std::size_t rank, const Instruction& instruction) {
    const Op op = instruction.key.op;
    if (is_understood(op)) return true;
    if (!std::exchange(named_[static_cast<std::size_t>(op)], true))
      report_.add("ops",
                  fmt::format("rank {}: no rule speaks of {}, so '{}' cannot be proved", rank,
                              name(op), brief(instruction)),
                  {rank_id(rank)}, {brief(instruction)});
    return false;
  }

  void outside(std::size_t rank, const Instruction& instruction, std::string_view section) {
    if (!understood(rank, instruction) || instruction.key.op == Op::Wait) return;
    report_.add(
        "ops",
        fmt::format(
            "rank {}: '{}' stands in the {}; only bodies that each train whole steps can be proved",
            rank, brief(instruction), section),
        {rank_id(rank)}, {brief(instruction)});
  }

  std::uint32_t* slot(Cell& cell, Op op) {
    switch (op) {
      case Op::Load:
        return &cell.load;
      case Op::F:
        return &cell.forward;
      case Op::Loss:
        return &cell.loss;
      case Op::R:
        return &cell.recompute;
      case Op::BF:
        return &cell.full_backward;
      case Op::B:
        return &cell.input_backward;
      case Op::W:
        return &cell.weight_backward;
      default:
        return nullptr;
    }
  }

  void inside(std::size_t rank, std::size_t stream, std::uint32_t position,
              const Instruction& instruction) {
    const InstructionKey& key = instruction.key;
    if (!understood(rank, instruction) || report_.full()) return;
    if (instruction.group != 0 || (key.op == Op::Recv && stream != 0)) {
      report_.add("ops",
                  fmt::format("rank {}: '{}' {}", rank, brief(instruction),
                              instruction.group != 0
                                  ? "is one of a group; only single instructions can be proved"
                                  : fmt::format("stands in stream {}; RECVs belong in stream 0",
                                                stream)),
                  {rank_id(rank)}, {brief(instruction)});
      return;
    }
    if (key.op <= Op::Loss || is_transfer(key.op)) {
      if (key.microbatch < 0 || key.microbatch >= program_.body_microbatches ||
          (key.slice >= index_.slices && !program_.is_part(instruction))) {
        report_.add(
            "R1",
            fmt::format("rank {}: '{}' is of a microbatch or slice outside the body's {} by {}",
                        rank, brief(instruction), index_.microbatches, index_.slices),
            {rank_id(rank)}, {brief(instruction)});
        return;
      }
    }
    if (key.op > Op::Loss) return;
    if (stream != 0) {
      report_.add("ops",
                  fmt::format("rank {}: '{}' stands in stream {}; compute belongs in stream 0",
                              rank, brief(instruction), stream),
                  {rank_id(rank)}, {brief(instruction)});
      return;
    }
    if (!is_at_home(rank, key)) {
      report_.add("R2",
                  fmt::format("rank {} runs '{}', but {}", rank, brief(instruction), home_of(key)),
                  {rank_id(rank)}, {brief(instruction)});
      return;
    }
    const bool is_part = program_.is_part(instruction);
    const std::size_t row = index_.row(key.stage, key.direction);
    const std::size_t column = is_part ? static_cast<std::size_t>(key.microbatch) * index_.slices
                                       : index_.column(key);
    Cell& cell = index_.cell(row, column);
    const std::uint32_t before = std::exchange(last_compute_, position);
    std::uint32_t* at = slot(cell, key.op);
    if (is_part && cell.rank == static_cast<std::int32_t>(rank) && cell.first_part != kAbsent) {
      next_part(rank, instruction, before, cell);
      *at = position;
      return;
    }
    if (is_part) {
      cell.first_part = position;
      parts_.push_back({row, column, 0, kAbsent, layers_of(program_, key)});
      next_part(rank, instruction, kAbsent, cell);
    }
    if (*at != kAbsent) {
      report_.add(
          "R1",
          fmt::format(
              "'{}' is there twice: on rank {} at position {} and on rank {} at position {}",
              brief(instruction), cell.rank, *at, rank, position),
          {RankId(cell.rank), rank_id(rank)}, {brief(instruction), brief(instruction)});
      return;
    }
    *at = position;
    if (cell.rank >= 0 && cell.rank != static_cast<std::int32_t>(rank))
      report_.add("R2",
                  fmt::format("rank {} runs '{}', but rank {} runs the other operations of that "
                              "microbatch and stage",
                              rank, brief(instruction), cell.rank),
                  {rank_id(rank), RankId(cell.rank)}, {brief(instruction)});
    cell.rank = static_cast<std::int32_t>(rank);
  }

  // The next part of a backward: with the next number, of the next layers down, and nothing computed
  // since the part before, which left gradients in the workspace.
  void next_part(std::size_t rank, const Instruction& instruction, std::uint32_t before,
                 const Cell& cell) {
    const Segment& segment =
        program_.recipes[static_cast<std::size_t>(instruction.recipe)].segments.front();
    Part& part = parts_.back();
    const bool right = index_.slices == 1 && &index_.cell(part.row, part.column) == &cell &&
                       instruction.key.slice == part.count && segment.end_layer == part.low &&
                       segment.first_layer < segment.end_layer &&
                       (part.count == 0 || before == part.at);
    if (!right)
      report_.add("R1",
                  fmt::format("rank {}: '{}' of layers {} to {} does not continue a backward, of "
                              "which {} parts went down to layer {}",
                              rank, brief(instruction), segment.first_layer, segment.end_layer - 1,
                              part.count, part.low),
                  {rank_id(rank)}, {brief(instruction)});
    ++part.count;
    part.low = segment.first_layer;
    part.at = last_compute_;
  }

  // By the stores: the copy of a stage that a direction uses. A program without stores for a stage
  // says nothing of it.
  bool is_at_home(std::size_t rank, const InstructionKey& key) {
    if (homes_.empty()) {
      homes_.resize(index_.stages);
      for (const ProgramStore& store : program_.stores)
        homes_[store.stage.index()].push_back({store.copy, store.rank});
    }
    const auto& homes = homes_[key.stage];
    return homes.empty() || std::any_of(homes.begin(), homes.end(), [&](const auto& home) {
             return home.first == key.direction && home.second.index() == rank;
           });
  }

  std::string home_of(const InstructionKey& key) const {
    for (const auto& [copy, rank] : homes_[key.stage])
      if (copy == key.direction)
        return fmt::format("copy {} of stage {} is on rank {}", copy, key.stage, rank.value);
    return fmt::format("stage {} has no copy {}", key.stage, key.direction);
  }

  // SENDs and RECVs of a rank, with what `after` says of them and the compute stream. A SEND in
  // another stream follows the latest compute instruction that it or an earlier one of its stream
  // waits for; RECVs are in the compute stream.
  void transfers(std::size_t rank) {
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    for (std::uint32_t s = 0; s < streams.size(); ++s) {
      std::uint32_t follows = 0;
      for (std::uint32_t i = 0; i < streams[s].body.size(); ++i) {
        const Instruction& instruction = streams[s].body[i];
        if (s == 0)
          follows = i;
        else if (instruction.after_stream == 0)
          follows = std::max(follows, instruction.after_index + 1);
        if (!is_transfer(instruction.key.op)) continue;
        ProgramIndex::Traffic& traffic =
            index_.traffic[static_cast<std::size_t>(instruction.target)];
        if (instruction.key.op == Op::Send)
          traffic.sends.push_back({s, i, follows});
        else
          traffic.receives.push_back({s, i, i + 1});
        is_mine(rank, instruction);
      }
    }
  }

  void is_mine(std::size_t rank, const Instruction& instruction) {
    const ProgramEdge& edge = program_.edges[static_cast<std::size_t>(instruction.target)];
    const bool sends = instruction.key.op == Op::Send;
    const RankId expected = sends ? edge.source : edge.destination;
    const StageId stage = sends ? edge.from : edge.to;
    if (expected.index() == rank && stage.index() == instruction.key.stage) {
      if (!is_at_home(rank, instruction.key))
        report_.add("R2",
                    fmt::format("rank {} runs '{}', but {}", rank, brief(instruction),
                                home_of(instruction.key)),
                    {rank_id(rank)}, {brief(instruction)});
      return;
    }
    report_.add("R2",
                fmt::format("rank {} has '{}', but edge {} {} stage {} on rank {}", rank,
                            brief(instruction), instruction.target, sends ? "leaves" : "enters",
                            stage.value, expected.value),
                {rank_id(rank)}, {brief(instruction)});
  }

  void missing() {
    for (const Part& part : parts_)
      if (part.low > 0)
        report_.add("R1", fmt::format("the parts of a backward end at layer {} of {}", part.low,
                                      named(part.row, part.column)),
                    {RankId(index_.cell(part.row, part.column).rank)});
    for (std::size_t row = 0; row < index_.rows.size(); ++row) {
      std::size_t loads = 0, losses = 0;
      const std::size_t columns = index_.microbatches * index_.slices;
      for (std::size_t c = 0; c < columns; ++c) {
        const Cell& cell = index_.cell(row, c);
        loads += cell.load != kAbsent;
        losses += cell.loss != kAbsent;
      }
      for (std::size_t c = 0; c < columns && !report_.full(); ++c) {
        const Cell& cell = index_.cell(row, c);
        if (cell.forward == kAbsent) lacks(row, c, Op::F, "");
        if (cell.full_backward == kAbsent && cell.input_backward == kAbsent &&
            cell.weight_backward == kAbsent)
          lacks(row, c, Op::BF, ", nor B and W");
        else if (cell.full_backward == kAbsent && cell.input_backward == kAbsent)
          lacks(row, c, Op::B, " to its W");
        else if (cell.full_backward == kAbsent && cell.weight_backward == kAbsent)
          lacks(row, c, Op::W, " to its B");
        else if (cell.full_backward != kAbsent &&
                 (cell.input_backward != kAbsent || cell.weight_backward != kAbsent))
          report_.add("R1",
                      fmt::format("{} has both a full backward and a part of one", named(row, c)),
                      {RankId(cell.rank)});
        if (loads != 0 && cell.load == kAbsent)
          lacks(row, c, Op::Load, ", though others of its stage have");
        if (losses != 0 && cell.loss == kAbsent)
          lacks(row, c, Op::Loss, ", though others of its stage have");
      }
    }
  }

  std::string named(std::size_t row, std::size_t column) const {
    const std::size_t stage = index_.rows[row].stage;
    std::string out = fmt::format("microbatch {} of stage {}", column / index_.slices, stage);
    if (index_.rows[row].samples > 0)
      out += fmt::format(", copy {},", row - index_.first_row[stage]);
    if (index_.slices > 1) out += fmt::format(", slice {},", column % index_.slices);
    return out;
  }

  void lacks(std::size_t row, std::size_t column, Op op, std::string_view rest) {
    const std::int32_t rank = index_.cell(row, column).rank;
    report_.add("R1", fmt::format("{} has no {}{}", named(row, column), name(op), rest),
                rank >= 0 ? std::vector{RankId(rank)} : std::vector<RankId>());
  }

  const Program& program_;
  Report& report_;
  ProgramIndex index_;
  struct Part {
    std::size_t row, column;
    std::uint32_t count, at;
    std::int32_t low;  // the layers from here on are done
  };
  std::vector<Part> parts_;              // of backwards in parts, those under way or done
  std::uint32_t last_compute_ = kAbsent;  // position, in the rank at hand
  std::array<bool, kOpNames.size()> named_{};                        // reported under "ops" already
  std::vector<std::vector<std::pair<std::int32_t, RankId>>> homes_;  // by stage: (copy, rank)
};

}  // namespace

ProgramIndex check_coverage(const Program& program, Report& report) {
  return Coverage(program, report).run();
}

}  // namespace penstock::check_rules
