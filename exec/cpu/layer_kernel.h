#pragma once

// One layer's arithmetic on one CPU thread: forward, input gradient, weight gradient. A kernel is
// built once for a layer and a microbatch size, owns its prepared matrix products, and allocates
// nothing when called (what oneDNN does of itself: exec/cpu/math/matmul.h). Bits depend on
// shapes and the instruction set alone: every reduction has one written order, one thread.

#include <memory>
#include <span>

#include "core/result.h"
#include "core/units.h"
#include "core/workload.h"
#include "exec/losses.h"

namespace penstock::cpu {

// Parameters by kind, the others have none:
//   Embedding     token table [vocabulary, width], position table [T, width]
//   LayerNorm     gain [width], bias [width]
//   Linear        weight [in, out], bias [out]: y = x·W + b, the leading dimensions of x are rows
//   Conv2d        weight [K, C, kernel, kernel], and bias [K] or none
//   BatchNorm     gain [C], bias [C], running mean [C], running variance [C]

// Where a call finds its operands. All pointers are 64-byte aligned and do not overlap, except that
// an Add's input gradients may be one buffer (the same producer twice) or, when not accumulated,
// the output gradient itself.
struct LayerOperands {
  // One a Layer::inputs entry: [b, ...].
  std::span<const float* const> inputs;
  // One a Layer::sources entry: [b, ...] bytes below the vocabulary (below the classes); for
  // MeanSquared the targets are byte / 255.
  std::span<const std::uint8_t* const> data;
  float* output = nullptr;  // [b, ...]; forward only, null for a loss
  // backward_needs().saved bytes: written by forward, read by both backward parts.
  float* saved = nullptr;
  std::span<float* const> parameters;       // Layer::parameters, in order
  const float* output_gradient = nullptr;   // unused by a loss
  std::span<float* const> input_gradients;  // one an input, null where not wanted
  // Add to input_gradients[*] instead of overwriting them. Where a layer's inputs differ in this,
  // call once for each, with null for the others.
  bool accumulate_input_gradient = false;
  std::span<float* const> parameter_gradients;  // added to, never overwritten
  std::byte* workspace = nullptr;               // workspace_bytes(): undefined before and after
  double* loss = nullptr;  // a loss layer's forward adds the sum over its rows, already divided
  Hits* hits = nullptr;    // a loss over classes: added to by forward; null where nobody asks
  // BatchNorm: false makes forward use the running statistics. Backward is of training alone.
  bool training = true;
  // What this microbatch counts in a Statistic parameter (core/workload.h): backward_weight adds
  // statistic_weight · (mean or unbiased variance of the microbatch) to its "gradient".
  float statistic_weight = 0;
};

class LayerKernel {
 public:
  virtual ~LayerKernel() = default;

  virtual void forward(const LayerOperands& operands) = 0;
  // The two halves of the backward pass read what forward left and may run in either order.
  virtual void backward_input(const LayerOperands& operands) = 0;
  virtual void backward_weight(const LayerOperands&) {}

  // Scratch a call needs (library scratchpads included), the larger of all three parts.
  virtual Bytes workspace_bytes() const { return Bytes(0); }
};

// The kernel of `layer` (which must not be Opaque: ErrorCode::Infeasible) for microbatches of
// `microbatch` samples. `rows_in_step`: loss rows of the whole global batch, the divisor of the
// mean (T · samples for CrossEntropy, samples for MeanSquared, which divides by its n as well).
// `input_shapes` as in Layer::inputs. BadInput if the layer's inputs, sources or parameters are not
// those of its kind.
Result<std::unique_ptr<LayerKernel>> make_kernel(const Layer& layer,
                                                 std::span<const TensorShape> input_shapes,
                                                 std::int64_t microbatch,
                                                 std::int64_t rows_in_step);

}  // namespace penstock::cpu
