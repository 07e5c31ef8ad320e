#pragma once

// The rules of layer shapes for the kinds that work on images [channels, height, width]
// (core/workload.h); check_layer_shapes calls them.

#include <cstdint>

#include "core/layer_operands.h"
#include "core/result.h"

namespace penstock::shapes {

// Places where a window of `kernel` fits along `size` pixels with `padding` on both sides:
// (size + 2·padding - kernel) / stride + 1, rounded down. At least 1 where kernel <= size +
// 2·padding.
constexpr std::int64_t window_places(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                                     std::int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

Result<void> pixels(const Operands& x);
// kernel and stride are 1 or more, padding is from 0 to below kernel (no window lies in it alone),
// and the kernel fits into the padded image.
Result<void> conv2d(const Operands& x);
Result<void> batch_norm(const Operands& x);
Result<void> max_pool(const Operands& x);  // attributes as of conv2d
Result<void> average_pool(const Operands& x);
Result<void> upsample(const Operands& x);  // factor is 1 or more
Result<void> concat(const Operands& x);    // two inputs or more

}  // namespace penstock::shapes
