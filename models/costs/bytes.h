#pragma once

// Bytes of memory that a layer moves for one microbatch, each operand counted once for every time
// it is read or written from end to end. p: the layer's parameters in bytes; x, y: one input and
// the output; s: what is saved for the backward pass (core/footprint.h); t: the layer's data
// (tokens, targets).
//
//   kind           forward          input gradient        weight gradient
//   Embedding      t + 2·y + y      0                     t + y + 4·y       table rows: both ways
//   LayerNorm      x + y + s + p    x + y + x + s + p/2   x + y + s + 2·p
//   Linear         x + y + p        y + x + weight        x + y + 2·p       gradients: added to
//   Attention      x + y + 2·s      x + y + x + 3·s       0                 score gradients: 2·s
//   Gelu           x + y            x + y + x             0
//   Add            2·x + y          y + 2·x               0
//   CrossEntropy   t + x + s        t + s + x             0
//   MeanSquared    t + x            t + x + x             0
//
// The total is double: it divides by a bandwidth and need not be exact beyond 2^53.

#include <span>

#include "core/units.h"
#include "core/workload.h"

namespace penstock {

struct LayerTraffic {
  double load;  // data of the layer's sources: read from the data set, written to its buffer
  double forward, backward_input, backward_weight;

  bool operator==(const LayerTraffic&) const = default;
};

// `layer` must not be Opaque (PENSTOCK_CHECK). `input_shapes` as in Layer::inputs, of one sample.
LayerTraffic layer_traffic(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch);

// One optimizer step on all of a layer's parameters: weights, gradients (cleared) and the optimizer's
// states, each read and written; of a Statistic, weights and gradients. Clipping reads gradients twice
// more and writes them once; weight decay reads two and writes one.
double step_traffic(const Layer& layer, const Optimizer& optimizer);

// An upper estimate of the library scratch of one call where nothing was measured: of a Linear, a
// packed copy of its largest operand; of Attention, one head's five packed matrices and its score
// gradients, each 64-byte aligned, and a packed copy of the scores; of both, 64 KiB for the
// library's own tables; of other kinds, nothing. oneDNN 2.6 on a CPU with AVX-512 stays below it;
// with large weights, far below, as it packs by blocks.
Bytes scratch_estimate(const Layer& layer, std::span<const TensorShape> input_shapes,
                       std::int64_t microbatch);

}  // namespace penstock
