#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

using Cell = ProgramIndex::Cell;

class Sequence {
 public:
  Sequence(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {}

  void cells() {
    const std::size_t columns = index_.microbatches * index_.slices;
    for (std::size_t row = 0; row < index_.rows.size() && !report_.full(); ++row) {
      for (std::size_t c = 0; c < columns; ++c) {
        const Cell& cell = index_.cell(row, c);
        const std::uint32_t backward = cell.first_backward();
        in_order(cell, cell.load, cell.forward);
        in_order(cell, cell.forward, cell.loss);
        in_order(cell, cell.loss == kAbsent ? cell.forward : cell.loss, backward);
        in_order(cell, cell.forward, cell.recompute);
        in_order(cell, cell.recompute, backward);
        in_order(cell, cell.input_backward, cell.weight_backward);
        right_after(cell);
        if (c % index_.slices == 0) continue;
        // A slice reads what the slices before it left, and its backward adds to theirs.
        const Cell& previous = index_.cell(row, c - 1);
        if (previous.rank != cell.rank) continue;
        in_order(cell, previous.forward, cell.forward);
        in_order(cell, backward, previous.first_backward());
      }
    }
  }

  // R10, R12: each trained store has one STEP a step, after all its gradients, which are added in
  // the order of the tree.
  void stores() {
    steps_.assign(program_.stores.size(), kAbsent);
    for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
      const std::vector<Stream>& streams = program_.ranks[r].streams;
      for (std::size_t s = 0; s < streams.size(); ++s)
        for (std::uint32_t i = 0; i < streams[s].body.size(); ++i)
          if (streams[s].body[i].key.op == Op::Step) step(r, s, i, streams[s].body[i]);
    }
    for (std::size_t i = 0; i < program_.stores.size() && !report_.full(); ++i) {
      if (program_.stores[i].kind != StoreKind::Trained) continue;
      if (steps_[i] == kAbsent)
        report_.add("R10",
                    fmt::format("store {} of stage {} on rank {} is trained but has no STEP", i,
                                program_.stores[i].stage.value, program_.stores[i].rank.value),
                    {program_.stores[i].rank});
      else
        around_step(i);
      tree(i);
    }
  }

 private:
  void in_order(const Cell& cell, std::uint32_t earlier, std::uint32_t later) {
    if (earlier == kAbsent || later == kAbsent || earlier < later) return;
    const std::vector<Instruction>& compute =
        program_.ranks[static_cast<std::size_t>(cell.rank)].streams[0].body;
    report_.add(
        "R4",
        fmt::format("rank {}: '{}' (position {}) must come before '{}' (position {})", cell.rank,
                    brief(compute[earlier]), earlier, brief(compute[later]), later),
        {RankId(cell.rank)}, {brief(compute[earlier]), brief(compute[later])});
  }

  // What R makes, and what LOSS reads of F, lies in the rank's one workspace, which every other
  // computation overwrites.
  void right_after(const Cell& cell) {
    right_after(cell, cell.recompute, cell.last_backward());
    right_after(cell, cell.forward, cell.loss);
  }

  void right_after(const Cell& cell, std::uint32_t maker, std::uint32_t reader) {
    if (maker == kAbsent || reader == kAbsent) return;
    const auto rank = static_cast<std::size_t>(cell.rank);
    if (!has_workspace(rank)) return;
    const std::vector<Instruction>& compute = program_.ranks[rank].streams[0].body;
    const InstructionKey& of = compute[maker].key;
    for (std::uint32_t i = maker + 1; i < reader; ++i) {
      const InstructionKey& key = compute[i].key;
      // The parts of a backward lie between R and its last; they leave alone what they read. Of parts
      // the slice is their number.
      const bool same = of.op == Op::R && key.stage == of.stage &&
                        key.microbatch == of.microbatch && key.direction == of.direction &&
                        (key.slice == of.slice || program_.is_part(compute[i]));
      if (!is_busy(key.op) || key.op == Op::Load || same) continue;
      report_.add("R4",
                  fmt::format("rank {}: '{}' (position {}) overwrites what '{}' (position {}) made "
                              "for '{}'",
                              rank, brief(compute[i]), i, brief(compute[maker]), maker,
                              brief(compute[reader])),
                  {rank_id(rank)}, {brief(compute[maker]), brief(compute[i])});
      return;
    }
  }

  bool has_workspace(std::size_t rank) {
    if (workspace_.empty()) {
      for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
        const auto rows = program_.buffers_of(rank_id(r));
        workspace_.push_back(std::any_of(rows.begin(), rows.end(), [](const Buffer& row) {
          return row.cls == BufferClass::Workspace;
        }));
      }
    }
    return workspace_[rank];
  }

  void step(std::size_t rank, std::size_t stream, std::uint32_t position,
            const Instruction& instruction) {
    const auto store = static_cast<std::size_t>(instruction.target);
    const ProgramStore& row = program_.stores[store];
    const char* wrong = nullptr;
    if (row.rank.index() != rank || row.stage.index() != instruction.key.stage)
      wrong = "names a store of another rank or stage";
    else if (row.kind != StoreKind::Trained)
      wrong = "names a store that is not trained";
    else if (stream != 0)
      wrong = "stands outside the compute stream";
    else if (steps_[store] != kAbsent)
      wrong = "is the store's second in one repetition of the body";
    if (wrong != nullptr)
      report_.add("R10", fmt::format("rank {}: '{}' {}", rank, brief(instruction), wrong),
                  {rank_id(rank)}, {brief(instruction)});
    else
      steps_[store] = position;
  }

  void around_step(std::size_t store) {
    const ProgramStore& row = program_.stores[store];
    const std::vector<Instruction>& compute = program_.ranks[row.rank.index()].streams[0].body;
    const Instruction& step = compute[steps_[store]];
    std::uint32_t last = 0;
    const std::size_t cells = index_.row_at(program_, row.stage.index(), row.rank);
    for (std::size_t c = 0; c < index_.microbatches * index_.slices; ++c) {
      const Cell& cell = index_.cell(cells, c);
      if (cell.rank != row.rank.value) continue;
      // R4 puts everything else of a microbatch before its backward pass.
      last = std::max({last, cell.first_backward(), cell.last_backward()});
    }
    if (last < steps_[store]) return;
    report_.add(
        "R10",
        fmt::format(
            "rank {}: '{}' (position {}) comes after '{}' (position {}) of the same step: it would "
            "read or add to weights that have moved on",
            row.rank.value, brief(compute[last]), last, brief(step), steps_[store]),
        {row.rank}, {brief(step), brief(compute[last])});
  }

  void tree(std::size_t store) {
    const ProgramStore& row = program_.stores[store];
    std::vector<int> times(index_.microbatches, 0);
    for (const std::vector<std::int32_t>& copy : row.accumulation.copies)
      for (const std::int32_t microbatch : copy) {
        if (microbatch < 0 || static_cast<std::size_t>(microbatch) >= times.size())
          return refuse_tree(
              store, fmt::format("names microbatch {}; the body has {}", microbatch, times.size()));
        ++times[static_cast<std::size_t>(microbatch)];
      }
    // Copies that share microbatches each add their part of all of them.
    const int expected =
        row.samples > 0 ? static_cast<int>(row.accumulation.copies.size()) : 1;
    for (std::size_t m = 0; m < times.size(); ++m)
      if (times[m] != expected)
        return refuse_tree(store, fmt::format("names microbatch {} {} times", m, times[m]));
    if (row.copy < 0 || static_cast<std::size_t>(row.copy) >= row.accumulation.copies.size())
      return refuse_tree(store, fmt::format("has no list for copy {}", row.copy));

    // The order in which this rank adds: of each microbatch, the slice that comes first.
    std::vector<std::pair<std::uint32_t, std::int32_t>> added;
    const std::size_t cells = index_.row_at(program_, row.stage.index(), row.rank);
    for (std::size_t m = 0; m < index_.microbatches; ++m) {
      std::uint32_t first = kAbsent;
      for (std::size_t slice = 0; slice < index_.slices; ++slice) {
        const Cell& cell = index_.cell(cells, m * index_.slices + slice);
        if (cell.rank == row.rank.value) first = std::min(first, cell.last_backward());
      }
      if (first != kAbsent) added.emplace_back(first, static_cast<std::int32_t>(m));
    }
    std::sort(added.begin(), added.end());
    const std::vector<std::int32_t>& listed =
        row.accumulation.copies[static_cast<std::size_t>(row.copy)];
    if (listed.size() != added.size())
      return refuse_tree(store, fmt::format("lists {} microbatches for copy {}; rank {} runs {}",
                                            listed.size(), row.copy, row.rank.value, added.size()));
    for (std::size_t k = 0; k < added.size(); ++k)
      if (listed[k] != added[k].second)
        return refuse_tree(
            store, fmt::format("adds microbatch {} as number {}; rank {} adds microbatch {} then",
                               listed[k], k, row.rank.value, added[k].second));
  }

  void refuse_tree(std::size_t store, const std::string& what) {
    report_.add("R12",
                fmt::format("the accumulation tree of store {} (stage {}) {}", store,
                            program_.stores[store].stage.value, what),
                {program_.stores[store].rank});
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  std::vector<std::uint32_t> steps_;  // by store: position of its STEP
  std::vector<bool> workspace_;       // by rank: whether it has one; made when first asked for
};

}  // namespace

void check_sequence(const Program& program, const ProgramIndex& index, Report& report) {
  Sequence sequence(program, index, report);
  sequence.cells();
  sequence.stores();
}

namespace {

// Members call with the keys of their own copy, and a gather with those of their own stage.
bool same_call(const Instruction& a, const Instruction& b) {
  InstructionKey other = b.key;
  other.direction = a.key.direction;
  if (a.key.op == Op::Gather) other.stage = a.key.stage;
  return a.key == other;
}

// The calls of a rank and stream to groups that both ranks are members of.
std::vector<std::int32_t> common_calls(const Program& program, std::size_t rank, RankId other) {
  std::vector<std::int32_t> calls;
  for (const Stream& stream : program.ranks[rank].streams)
    for (const Instruction& instruction : stream.body) {
      if (!is_collective(instruction.key.op)) continue;
      const std::vector<RankId>& ranks =
          program.groups[static_cast<std::size_t>(instruction.target)].ranks;
      if (std::find(ranks.begin(), ranks.end(), other) != ranks.end())
        calls.push_back(instruction.target);
    }
  return calls;
}

}  // namespace

void check_collectives(const Program& program, Report& report) {
  const std::size_t before = report.size();
  struct Member {
    std::size_t rank, stream;
    std::vector<const Instruction*> calls;
  };
  std::vector<std::vector<Member>> members(program.groups.size());
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const std::vector<Stream>& streams = program.ranks[r].streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      for (const auto part : {&Stream::prologue, &Stream::body, &Stream::epilogue}) {
        for (const Instruction& instruction : streams[s].*part) {
          if (!is_collective(instruction.key.op)) continue;
          const auto group = static_cast<std::size_t>(instruction.target);
          const std::vector<RankId>& ranks = program.groups[group].ranks;
          if (std::find(ranks.begin(), ranks.end(), rank_id(r)) == ranks.end()) {
            report.add("R6",
                       fmt::format("rank {}: '{}', but it is not a member of group {}", r,
                                   brief(instruction), group),
                       {rank_id(r)}, {brief(instruction)});
            continue;
          }
          if (members[group].empty() || members[group].back().rank != r)
            members[group].push_back({r, s, {}});
          if (members[group].back().stream != s)
            report.add(
                "R6",
                fmt::format("rank {} calls group {} from streams {} and {}: their order is open", r,
                            group, members[group].back().stream, s),
                {rank_id(r)}, {brief(instruction)});
          members[group].back().calls.push_back(&instruction);
        }
      }
    }
  }
  for (std::size_t g = 0; g < members.size(); ++g) {
    if (members[g].empty()) continue;
    const Member& first = members[g].front();
    if (members[g].size() != program.groups[g].ranks.size())
      report.add("R6",
                 fmt::format("{} of the {} members of group {} call it", members[g].size(),
                             program.groups[g].ranks.size(), g),
                 program.groups[g].ranks);
    for (const Member& other : members[g]) {
      for (std::size_t k = 0; k < std::max(first.calls.size(), other.calls.size()); ++k) {
        const auto called = [&](const Member& member) {
          return k < member.calls.size() ? fmt::format("calls '{}'", brief(*member.calls[k]))
                                         : std::string("has ended");
        };
        if (k < first.calls.size() && k < other.calls.size() &&
            same_call(*first.calls[k], *other.calls[k]))
          continue;
        report.add("R6",
                   fmt::format("call {} of group {}: rank {} {}, rank {} {}", k, g, first.rank,
                               called(first), other.rank, called(other)),
                   {rank_id(first.rank), rank_id(other.rank)});
        break;
      }
    }
  }
  if (report.size() > before) return;
  // Two groups that the same ranks call in different orders would wait for each other.
  for (const Group& group : program.groups)
    for (std::size_t m = 1; m < group.ranks.size(); ++m) {
      const RankId a = group.ranks[m - 1], b = group.ranks[m];
      const std::vector<std::int32_t> mine = common_calls(program, a.index(), b),
                                      theirs = common_calls(program, b.index(), a);
      if (mine == theirs) continue;
      const auto at = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end());
      if (at.first == mine.end() || at.second == theirs.end()) continue;
      report.add("R6",
                 fmt::format("groups {} and {} cross: as call {} of their common groups rank {} "
                             "calls group {}, rank {} group {}",
                             *at.first, *at.second, at.first - mine.begin(), a.value, *at.first,
                             b.value, *at.second),
                 {a, b});
      return;
    }
}

}  // namespace penstock::check_rules
