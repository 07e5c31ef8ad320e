#pragma once

// From when to when each buffer of a program is live, in positions of its rank's compute stream.

#include <cstdint>
#include <vector>

#include "core/program.h"

namespace penstock {

// For each SEND of each edge's bodies, in the order of its stream, the first position of the sender's compute stream at
// whose end the message has provably been received; kNotProven if there is none. Three things prove it: the compute stream
// waiting for the SEND (WAIT, or any `after`) or holding it itself; and a RECV whose message was sent by an instruction
// that follows the matching RECV on the other rank. With 1F1B on two ranks, gradient 0 proves that activation 0 arrived,
// because BF 0 there follows RECV 0. Knowledge passed on through third ranks is not used. O(instructions).
inline constexpr std::uint32_t kNotProven = ~std::uint32_t{0};
std::vector<std::vector<std::uint32_t>> receipts(const Program& program);

// Fills Program::buffers' first and last uses from the instructions, then offsets, arena and live_peak from core/layout.
// Rows must be there by rank, with class, stage, microbatch, slice, owner and bytes. Uses:
//   weights, gradients, optimizer, norms, workspace   the whole body; they lie at the bottom, in the order of the rows
//   data            from LOAD           to the last of BF, B and W
//   stash           from the first RECV of its activations, or F, to the last of BF, B and W
//   send buffer     from F, of gradients BF or B, to the position that receipts() gives, else the end of the body (which
//                   lowering closes with WAITs); where several messages are parts of it, the last of these
//   receive buffer  from RECV (the first of its parts) to the last of BF, B and W
// What is received in another stream than compute lives from the instruction that RECV waits for, or from the start.
// O(instructions + buffers log buffers).
void assign_memory(Program& program);

}  // namespace penstock
