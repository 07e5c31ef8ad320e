#pragma once

// Floating-point operations of a layer for one microbatch, counted as the CPU kernels carry them
// out: a multiplication, an addition, a comparison, a division, an exponential are one each. b
// samples; T positions; r = b·T rows; n elements of the output; widths in and out; w the
// attention's width, h its heads; c classes.
//
//   kind           forward              input gradient       weight gradient
//   Embedding      r·w                  0                    2·r·w
//   LayerNorm      8·n                  14·n                 5·n
//   Linear         r·out·(2·in + 1)     2·r·in·out           2·r·in·out + r·out
//   Attention      b·(4·T²·w + 6·h·T²)  b·(8·T²·w + 4·h·T²)  0
//   Gelu           8·n                  17·n                 0
//   Add            n                    0 (copies)           0
//   CrossEntropy   5·r·c + 2·r          r·c + r              0
//   MeanSquared    3·n                  2·n                  0       n: elements of the prediction
//
// Attention counts all T×T scores although the mask leaves half of them: the matrix products
// compute them all (only the softmax stops at the diagonal, a lower-order term counted in full as
// well). The forward pass of a transformer is then close to 2·N FLOPs a token plus 4·T·w a block, a
// whole step to three times that (Kaplan et al. 2020, §2.1).

#include <span>

#include "core/units.h"
#include "core/workload.h"

namespace penstock {

struct LayerFlops {
  Flops forward, backward_input, backward_weight;

  Flops total() const { return forward + backward_input + backward_weight; }
  bool operator==(const LayerFlops&) const = default;
};

// `layer` must not be Opaque (PENSTOCK_CHECK). `input_shapes` as in Layer::inputs, of one sample.
LayerFlops layer_flops(const Layer& layer, std::span<const TensorShape> input_shapes,
                       std::int64_t microbatch);

// Of one optimizer step on all of a layer's parameters, an element: Sgd 4 with momentum, else 2; Adam
// and AdamW 13; weight decay 2 more; clipping 3 more (square, add, scale). Of a Statistic, always 2.
Flops step_flops(const Layer& layer, const Optimizer& optimizer);

// The shapes that a layer's producers yield, in the order of Layer::inputs.
std::vector<TensorShape> input_shapes(const Network& network, LayerId layer);

}  // namespace penstock
