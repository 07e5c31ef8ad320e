#pragma once

// IDX, the files of MNIST and its kin (yann.lecun.com/exdb/mnist, "The IDX file format"): a magic
// number, big-endian 32-bit sizes, then bytes.
//
//   images  0x00000803, images, rows, columns, then images·rows·columns bytes (one channel)
//   labels  0x00000801, labels, then one byte each

#include <string>

#include "core/result.h"
#include "exec/data/image_set.h"

namespace penstock {

// "train-images-idx3-ubyte" -> "train-labels-idx1-ubyte" in the same folder; "" where the file's
// name does not say images.
std::string idx_labels_beside(const std::string& images_path);

// Bad input, with file and byte, for a wrong magic number, another shape than asked for, no images,
// files cut short or with bytes left over, and where labels are asked for: none beside, another
// count, one beyond the classes.
Result<ImageSet> read_idx(const std::string& images_path, const ImageRequest& request);

}  // namespace penstock
