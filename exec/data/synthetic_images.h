#pragma once

// Images of no file: seeded, and with something to learn in them. Each class has a pattern of its
// own, smooth, 4 x 4 random values a channel with blends between them; an image is the pattern of
// its class moved by up to an eighth of its size, darkened by up to a half, with a little noise on
// every pixel. Integer arithmetic, so the same on every machine.

#include <cstdint>

#include "exec/data/image_set.h"

namespace penstock {

inline constexpr std::int64_t kSyntheticImages = 2048;                   // at most, and
inline constexpr std::int64_t kSyntheticBytes = std::int64_t{32} << 20;  // in about this memory

// As many images as the above allow, at least one; image n is of class n mod classes (of 10 classes
// where no labels are asked for).
ImageSet synthetic_images(const ImageRequest& request, std::uint64_t seed);

}  // namespace penstock
