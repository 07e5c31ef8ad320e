// How large the index of a program is: its microbatches, slices and stages, and which stages have a row
// of cells for each copy.

#include <algorithm>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

// Cells of the table for each compute instruction, at most: each cell needs two of them, but a
// program that lacks some is told which.
constexpr std::size_t kSparse = 16;

class IndexShape {
 public:
  IndexShape(const Program& program, ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {}

  bool measure() {
    index_.stages = static_cast<std::size_t>(program_.stages);
    index_.microbatches = static_cast<std::size_t>(program_.body_microbatches);
    index_.slices = 1;
    std::size_t instructions = 0;
    for (const RankProgram& rank : program_.ranks) {
      instructions += rank.streams[0].body.size();
      for (const Instruction& instruction : rank.streams[0].body)
        if (!is_collective(instruction.key.op) && !program_.is_part(instruction))
          index_.slices =
              std::max<std::size_t>(index_.slices, instruction.key.slice + std::size_t{1});
    }
    if (index_.stages / kSparse > instructions) return too_sparse(instructions);  // no rows yet
    if (!measure_rows()) return false;
    // Rows and microbatches lie below 2^31 each, slices are 256 at most: no overflow.
    const std::size_t columns = index_.microbatches * index_.slices;
    if (columns / kSparse > instructions || index_.rows.size() * columns / kSparse > instructions)
      return too_sparse(instructions);
    index_.cells.resize(index_.rows.size() * columns);
    index_.traffic.resize(program_.edges.size());
    if (index_.traffic.size() * columns > kSparse * instructions) return true;
    for (ProgramIndex::Traffic& traffic : index_.traffic) {
      traffic.sends.reserve(columns);
      traffic.receives.reserve(columns);
    }
    return true;
  }

 private:
  bool too_sparse(std::size_t instructions) {
    report_.add("R1", fmt::format("{} stages, {} microbatches and {} slices need a forward and a "
                                  "backward each, the compute streams have {} instructions",
                                  index_.stages, index_.microbatches, index_.slices, instructions));
    return false;
  }

  // One row a stage; where its stores say that copies share microbatches, one a copy. The parts must
  // make up a microbatch.
  bool measure_rows() {
    std::vector<std::vector<const ProgramStore*>> parts(index_.stages);
    for (const ProgramStore& store : program_.stores) parts[store.stage.index()].push_back(&store);
    for (std::size_t stage = 0; stage < index_.stages; ++stage) {
      index_.first_row.push_back(index_.rows.size());
      std::vector<const ProgramStore*>& copies = parts[stage];
      const auto shares = [](const ProgramStore* store) { return store->samples > 0; };
      if (std::none_of(copies.begin(), copies.end(), shares)) copies.clear();
      std::sort(copies.begin(), copies.end(),
                [](const auto* a, const auto* b) { return a->copy < b->copy; });
      std::int64_t end = 0;
      for (std::size_t c = 0; c < copies.size(); ++c) {
        const ProgramStore& store = *copies[c];
        if (!shares(&store) || store.copy != static_cast<std::int32_t>(c) || store.first_sample != end)
          return refuse_parts(stage, fmt::format("copy {} begins at sample {}, after {} samples",
                                                 store.copy, store.first_sample, end));
        if (store.samples > program_.microbatch_size - end)
          return refuse_parts(stage, fmt::format("copy {} ends beyond the last of {} samples",
                                                 store.copy, program_.microbatch_size));
        end += store.samples;
        index_.rows.push_back({stage, store.first_sample, store.samples});
      }
      if (copies.empty())
        index_.rows.push_back({stage, 0, 0});
      else if (end != program_.microbatch_size)
        return refuse_parts(
            stage, fmt::format("they have {} of {} samples", end, program_.microbatch_size));
    }
    index_.first_row.push_back(index_.rows.size());
    return true;
  }
  bool refuse_parts(std::size_t stage, const std::string& what) {
    report_.add("R1", fmt::format("the copies of stage {} do not share out a microbatch: {}", stage,
                                  what));
    return false;
  }

  const Program& program_;
  ProgramIndex& index_;
  Report& report_;
};

}  // namespace

bool measure(const Program& program, ProgramIndex& index, Report& report) {
  return IndexShape(program, index, report).measure();
}

}  // namespace penstock::check_rules
