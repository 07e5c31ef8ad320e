#pragma once

// For what part of its time a pass of a layer is bound by memory (core/contention.h): of the bytes that it moves (bytes.h),
// how many a second it moves in the time it takes, against how many a core moves that does nothing else. A roofline;
// without a profile that bandwidth is not known, and no work is of class memory:
//
//   share = min(1, bytes / (time · memory bandwidth)); 0 if the bytes stay within a core's private cache
//
// Example, 1 MiB of cache and 10 GB/s: an addition that moves 12 MiB in 1.26 ms does nothing else, 1; a product that moves 12 MiB
// in 12.6 ms waits for memory a tenth of the time, 0.1; on 512 KiB neither waits for what cores share, 0.

#include <cstdint>
#include <span>

#include "core/contention.h"
#include "core/plan.h"
#include "core/workload.h"

namespace penstock {

// Each from 0 to 1, in thousandths. Of a loss, `forward` is its loss.
struct MemoryShares {
  double load = 0, forward = 0, backward_input = 0, backward_weight = 0, step = 0;

  bool operator==(const MemoryShares&) const = default;
};

// All 0 of an Opaque layer, of whose bytes nothing is known, and where the bandwidth is not known. `input_shapes` as in
// Layer::inputs; `times` of the layer alone, for `microbatch` samples.
MemoryShares memory_shares(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch,
                           const StageTimes& times, const Contention& contention);

}  // namespace penstock
