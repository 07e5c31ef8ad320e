#pragma once

// Where each instruction of a program's body is: what rules R1 and R2 establish and the later ones look up.

#include <cstdint>
#include <vector>

#include "core/check/report.h"
#include "core/program.h"

namespace penstock::check_rules {

inline constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

struct ProgramIndex {
  // The compute operations of one (row, microbatch, slice), as positions in the compute stream of its rank.
  struct Cell {
    std::uint32_t load = kAbsent, forward = kAbsent, loss = kAbsent, recompute = kAbsent;
    std::uint32_t full_backward = kAbsent, input_backward = kAbsent, weight_backward = kAbsent;
    std::uint32_t first_part = kAbsent;  // of a full backward in parts, the first; full_backward is the last
    std::int32_t rank = -1;

    // The first and the last operation of the backward pass, and the one that makes the gradient of the input.
    std::uint32_t first_backward() const { return first_part != kAbsent ? first_part : input_gradient(); }
    std::uint32_t last_backward() const { return full_backward != kAbsent ? full_backward : weight_backward; }
    std::uint32_t input_gradient() const { return full_backward != kAbsent ? full_backward : input_backward; }
  };

  // One SEND or RECV.
  struct Transfer {
    std::uint32_t stream = 0, index = 0;
    // SEND: how many leading instructions of the compute stream are over when it starts. RECV: the position in the compute
    // stream of the first instruction that starts after it.
    std::uint32_t compute = 0;
  };
  struct Traffic {
    std::vector<Transfer> sends, receives;
  };

  // Where copies of a stage share every microbatch, each has a row of cells; all other stages have one row.
  struct Row {
    std::size_t stage = 0;
    std::int64_t first_sample = 0, samples = 0;  // 0 samples: all
  };

  std::size_t microbatches = 0, slices = 0, stages = 0;
  std::vector<Row> rows;
  std::vector<std::size_t> first_row;  // stages + 1 offsets into rows
  std::vector<Cell> cells;
  std::vector<Traffic> traffic;  // by edge

  std::size_t column(const InstructionKey& key) const {
    return static_cast<std::size_t>(key.microbatch) * slices + key.slice;
  }
  // Of a copy of a stage; past the stage's last row where there is no such copy.
  std::size_t row(std::size_t stage, std::size_t copy) const {
    return first_row[stage + 1] - first_row[stage] == 1 ? first_row[stage] : first_row[stage] + copy;
  }
  // Of the copy that a rank holds; a stage's first row if it holds none.
  std::size_t row_at(const Program& program, std::size_t stage, RankId rank) const {
    if (first_row[stage + 1] - first_row[stage] == 1) return first_row[stage];
    for (const ProgramStore& store : program.stores)
      if (store.stage.index() == stage && store.rank == rank) return row(stage, static_cast<std::size_t>(store.copy));
    return first_row[stage];
  }
  const Cell& cell(std::size_t row, std::size_t column) const { return cells[row * microbatches * slices + column]; }
  Cell& cell(std::size_t row, std::size_t column) { return cells[row * microbatches * slices + column]; }
};

// Of the stage of an instruction, by the store of its copy; 0, where none says it: then there is no saying what parts cover.
inline std::int32_t layers_of(const Program& program, const InstructionKey& key) {
  for (const ProgramStore& store : program.stores)
    if (store.stage.index() == key.stage && store.copy == key.direction) return store.layers;
  return 0;
}

// Every index within its table. The other functions here need that.
void check_tables(const Program& program, Report& report);
void check_stores(const Program& program, Report& report);        // "stores", and R12 of copies
void check_instructions(const Program& program, Report& report);  // "keys", "recipes", R10 and R5 of single instructions
// The sizes of an empty index, and its rows. False, and R1 says why, if copies do not share out a microbatch, or if there
// are too few forwards for a table of all cells to be worth its memory.
bool measure(const Program& program, ProgramIndex& index, Report& report);
// R1, R2 and "ops". The index is complete, and fit for the rules below, if nothing was reported.
ProgramIndex check_coverage(const Program& program, Report& report);
void check_messages(const Program& program, const ProgramIndex& index, Report& report);  // R3 and R4 of transfers
void check_arrivals(const Program& program, const ProgramIndex& index, Report& report);  // R3 and R8 of edges together
void check_sequence(const Program& program, const ProgramIndex& index, Report& report);  // R4 of compute, R10, R12
void check_collectives(const Program& program, Report& report);                          // R6
void check_reductions(const Program& program, const ProgramIndex& index, Report& report);  // R10 of copies
// R5 and R7a with buffered sends, R7b under rendezvous. Returns whether the program completes.
bool check_progress(const Program& program, bool rendezvous, Report& report);
// R8 of what is live through the whole run, and of what must have rows at all.
void check_persistent(const Program& program, Report& report);
void check_memory(const Program& program, const ProgramIndex& index, Report& report);  // R8 and R9

}  // namespace penstock::check_rules
