#pragma once

// What --data means for a workload that reads images (docs/formats/data.md).

#include <cstdint>
#include <string>

#include "core/result.h"
#include "exec/data/image_set.h"

namespace penstock {

inline constexpr std::string_view kSyntheticData = "synthetic";

//   synthetic         images of no file (exec/data/synthetic_images.h), from the seed
//   FILE.bin          CIFAR-10 or CIFAR-100
//   any other FILE    IDX images, their labels beside
//   FOLDER            the training images in it, by their names: the IDX pair
//                     (train-images-idx3-ubyte or train-images.idx3-ubyte and its labels),
//                     data_batch_*.bin (CIFAR-10) or train.bin (CIFAR-100); two of these are
//                     refused. If held-out images are asked for, the test images: t10k-images…,
//                     test_batch.bin, test.bin
// Bad input as each reader says.
Result<ImageSet> open_images(const std::string& path, const ImageRequest& request,
                             std::uint64_t seed);

}  // namespace penstock
