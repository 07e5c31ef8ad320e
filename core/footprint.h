#pragma once

// What a layer keeps in memory for its backward pass, by kind: the one place where planner, profiler and executors agree
// on bytes. All sizes are per microbatch of b samples.

#include <span>

#include "core/workload.h"

namespace penstock {

// Which of its own tensors a layer's backward pass reads again.
struct BackwardNeeds {
  bool inputs = false;
  Bytes saved = Bytes(0);  // auxiliary values written by forward, rounded up to the tensor alignment
};

//   Embedding     nothing (its tokens stay: LOAD's buffer)
//   LayerNorm     its input; mean and 1/deviation of each row (2 floats)
//   Linear        its input
//   Attention     its input; the softmax probabilities [b, heads, T, T]
//   Gelu          its input
//   Add           nothing
//   CrossEntropy  the probabilities [b, T, classes] (targets stay: LOAD's buffer)
//   MeanSquared   its input
//   Pixels        nothing (its bytes stay: LOAD's buffer)
//   Conv2d        its input
//   BatchNorm     its input; mean and variance of each channel (2 floats)
//   Relu          its input
//   MaxPool       where each output's maximum was, int32 [b, C, H', W'] (its input is larger)
//   AveragePool   nothing
//   Upsample      nothing
//   Concat        nothing
//   Opaque        its input: what else it saves, its profile says
BackwardNeeds backward_needs(const Layer& layer, std::span<const TensorShape> input_shapes, std::int64_t microbatch);

// What a layer that reads or writes BF16 needs beside its kernel's scratch: f32 copies of its inputs, their gradients and
// its output, each aligned. 0 where all is f32.
Bytes widened_bytes(const Layer& layer, std::span<const TensorShape> input_shapes, std::int64_t microbatch);

}  // namespace penstock
