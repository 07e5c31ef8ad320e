#pragma once

// Of which class (core/contention.h) the passes of a layer are, by their FLOPs and bytes (flops.h, bytes.h), so that derived
// and profiled costs agree:
//
//   matrix   at least kComputeBound FLOPs a byte, or no more bytes than a core's private cache holds
//   memory   all else
//
// Examples, at 128 rows of 512 numbers: a Linear to 512 does 2·128·512·512 FLOPs on 1.5 MiB, 43 a byte: matrix; on one row
// 0.5 a byte: memory, as its weights are read for little. A Gelu does 8·n FLOPs on 8·n bytes: memory beyond the private cache.

#include <cstdint>
#include <span>

#include "core/contention.h"
#include "core/workload.h"

namespace penstock {

// Between what a CPU core and an accelerator do for each byte they fetch; matrix products are well above, passes over
// elements below.
inline constexpr double kComputeBound = 8;

struct LayerClasses {
  WorkClass load = WorkClass::Matrix, forward = WorkClass::Matrix;  // of a loss, forward is its loss
  WorkClass backward_input = WorkClass::Matrix, backward_weight = WorkClass::Matrix, step = WorkClass::Matrix;

  bool operator==(const LayerClasses&) const = default;
};

// Of an Opaque layer all are matrix: of what is not known, nothing is said to be slowed down. `input_shapes` as in
// Layer::inputs.
LayerClasses layer_classes(const Workload& workload, const Layer& layer,
                           std::span<const TensorShape> input_shapes, std::int64_t microbatch,
                           Bytes private_cache);

}  // namespace penstock
