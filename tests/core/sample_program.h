#pragma once

// Small programs made by hand for the tests of core/: one stage a rank, in a chain.

#include <cstdint>

#include "core/order.h"
#include "core/program.h"

namespace penstock::test {

Order gpipe_order(std::int32_t stages, std::int32_t microbatches);
Order one_f_one_b_order(std::int32_t stages, std::int32_t microbatches);

struct SampleOptions {
  bool blocking_sends = false;  // SENDs in the compute stream, right after what they send
  bool split_backward = false;  // B and W in place of BF
  Bytes parameters{4096}, workspace{1000}, stash{640}, message{256}, data{100};
  Bytes memory_limit{0};
};

// Edges 0 … p-2 carry activations, p-1 … 2p-3 gradients (edge p-1+s: from stage s+1 to stage s). Stream 0 computes and
// receives; then one stream for each edge that leaves the rank, ascending. The first stage loads, the last has the loss.
Program sample_program(const Order& order, const SampleOptions& options = {});

}  // namespace penstock::test
