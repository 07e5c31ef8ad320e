#pragma once

// The messages between the copies of a plan's stages. Not for use outside planner/: call penstock::lower.
//
// For each edge of the plan and each pair of copies that meet (core/replicas.h):
//
//   both hold the same samples   one program edge with all its tensors, as between single copies
//   they share some samples      one program edge a tensor: samples are rows of a tensor, so that a range of them is
//                                contiguous at both ends
//
// What a copy sends over an edge of the plan is one buffer, whichever copies the parts go to; likewise what comes back. Its
// rows are those of the first program edge (send_buffer, receive_buffer).
//
// Example, microbatches of 4 samples, stage 0 on 2 copies, stage 1 on 1, one tensor of 10 bytes a sample: edge 0 carries
// samples [0, 2) from copy 0, edge 1 samples [2, 4) from copy 1 to offset 20 of what stage 1 receives; edges 2 and 3 bring
// the gradients back, from offsets 0 and 20 of one send buffer.

#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "core/program.h"

namespace penstock {

struct CopyEdges {
  // Of one copy: the program edges at its end, and those among them that own rows, ascending.
  struct Ends {
    std::vector<std::int32_t> edges, owners;
  };
  struct OfCopy {
    Ends activations_in, activations_out, gradients_in, gradients_out;
  };
  std::vector<ProgramEdge> edges;        // activations by edge of the plan, then the gradients
  std::vector<Nanoseconds> times;        // one an edge
  std::vector<Bytes> send_bytes, receive_bytes;  // one an edge: of the rows, for owners
  std::vector<std::int32_t> from_copy, to_copy;  // one an edge: of the message
  std::vector<std::vector<OfCopy>> of;   // [stage][copy]
};

// Of a valid plan.
CopyEdges copy_edges(const Plan& plan);

}  // namespace penstock
