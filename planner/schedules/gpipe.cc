// GPipe: all forwards, then all backwards (Huang et al., "GPipe: Efficient Training of Giant Neural
// Networks using Pipeline Parallelism", NeurIPS 2019, section 2.3). Also called fill-drain.
//
// Placement: stage s on rank s. Admits: any p >= 1, m >= 1, one chunk, whole microbatches.
// Backward runs in ascending microbatch order, so that gradients are added up as in every other
// one-directional schedule; the paper's figure draws it descending, which takes as long.
//
// With equal stages, T = F + B + W and C one transfer (eager):
//   makespan            (m + p - 1)·T + 2(p - 1)·C
//   bubble (C = 0)      (p - 1)/(m + p - 1)
//   peak activations    m on every rank
//
// p = 3, m = 4, a forward one column (its microbatch's digit), a backward two (its letter: a is
// microbatch 0), C = 0:
//
//   time    0         1
//           012345678901234567
//   rank 0  0123......aabbccdd
//   rank 1  .0123...aabbccdd..
//   rank 2  ..0123aabbccdd....

#include "planner/schedules/built_in.h"

namespace penstock {
namespace {

std::string refuses_gpipe(const Shape& shape) {
  return refuses_chunks_and_slices("gpipe", shape);
}

Order emit_gpipe(const Shape& shape) {
  Order order = chain_order(shape.stages, shape.microbatches);
  order.ops.reserve(2 * static_cast<std::size_t>(shape.stages) *
                    static_cast<std::size_t>(shape.microbatches));
  for (std::int32_t rank = 0; rank < shape.stages; ++rank) {
    for (const Op op : {Op::F, Op::BF}) {
      for (std::int32_t mb = 0; mb < shape.microbatches; ++mb) {
        OrderOp& next = order.ops.emplace_back();
        next.op = op;
        next.stage = static_cast<std::uint16_t>(rank);
        next.microbatch = static_cast<std::uint32_t>(mb) & 0x3fffffffu;
      }
    }
    order.first[static_cast<std::size_t>(rank) + 1] = order.ops.size();
  }
  return order;
}

constexpr std::string_view kAliases[] = {"fill_drain"};

}  // namespace

Schedule gpipe() {
  return {.name = "gpipe",
          .aliases = kAliases,
          .parameters = {},
          .about = "all forwards, then all backwards; every rank keeps all microbatches",
          .source = "Huang et al., GPipe, NeurIPS 2019, section 2.3",
          .admits = "any stages and microbatches; chunks 1, slices 1",
          .refuses = refuses_gpipe,
          .emit = emit_gpipe};
}

}  // namespace penstock
