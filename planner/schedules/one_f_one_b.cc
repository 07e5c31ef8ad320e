// 1F1B with flush: one forward, one backward in turn, so that a rank keeps as few microbatches as
// the pipeline needs (Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training", ICML
// 2021, section 2.2, PipeDream-Flush; Fan et al., "DAPPLE", PPoPP 2021, section 3, warm-up policy
// A). Also Megatron-LM's schedule without interleaving.
//
// Placement: stage s on rank s. Admits: any p >= 1, m >= 1, one chunk, whole microbatches.
// Rank r runs w = min(m, p - 1 - r) forwards, then m - w pairs (F, BF), then w BF; microbatches
// ascend.
//
// With equal stages, T = F + B + W and C one transfer (eager, C <= F/2):
//   makespan            (m + p - 1)·T + C·[2(p - 1)·(q + 1) + 2·max(0, r - 1)]
//                       with q and r quotient and remainder of (m - 1)/p: p microbatches in flight
//                       need p·T + 2(p - 1)·C for a round trip, so each p of them lose 2(p - 1)·C
//   bubble (C = 0)      (p - 1)/(m + p - 1)
//   peak activations    min(m, p - r) on rank r
//
// p = 3, m = 4, a forward one column (its microbatch's digit), a backward two (its letter: a is
// microbatch 0), C = 0:
//
//   time    0         1
//           012345678901234567
//   rank 0  012....aa3bb.cc.dd
//   rank 1  .01..aa2bb3cc.dd..
//   rank 2  ..0aa1bb2cc3dd....

#include <algorithm>

#include "planner/schedules/built_in.h"

namespace penstock {
namespace {

std::string refuses_1f1b(const Shape& shape) {
  return refuses_chunks_and_slices("1f1b", shape);
}

Order emit_1f1b(const Shape& shape) {
  const std::int32_t p = shape.stages, m = shape.microbatches;
  Order order = chain_order(p, m);
  order.ops.reserve(2 * static_cast<std::size_t>(p) * static_cast<std::size_t>(m));
  for (std::int32_t rank = 0; rank < p; ++rank) {
    const auto add = [&](Op op, std::int32_t microbatch) {
      OrderOp& next = order.ops.emplace_back();
      next.op = op;
      next.stage = static_cast<std::uint16_t>(rank);
      next.microbatch = static_cast<std::uint32_t>(microbatch) & 0x3fffffffu;
    };
    const std::int32_t warm_up = std::min(m, p - 1 - rank);
    for (std::int32_t mb = 0; mb < warm_up; ++mb) add(Op::F, mb);
    for (std::int32_t mb = warm_up; mb < m; ++mb) {
      add(Op::F, mb);
      add(Op::BF, mb - warm_up);
    }
    for (std::int32_t mb = m - warm_up; mb < m; ++mb) add(Op::BF, mb);
    order.first[static_cast<std::size_t>(rank) + 1] = order.ops.size();
  }
  return order;
}

constexpr std::string_view kAliases[] = {"one_f_one_b", "pipedream_flush", "dapple_a"};

}  // namespace

Schedule one_f_one_b() {
  return {.name = "1f1b",
          .aliases = kAliases,
          .parameters = {},
          .about = "one forward, one backward in turn; rank r keeps at most p - r microbatches",
          .source =
              "Narayanan et al., ICML 2021, section 2.2 (PipeDream-Flush); Fan et al., DAPPLE, "
              "PPoPP 2021",
          .admits = "any stages and microbatches; chunks 1, slices 1",
          .refuses = refuses_1f1b,
          .emit = emit_1f1b};
}

}  // namespace penstock
