#pragma once

// CIFAR-10 and CIFAR-100 in their binary version (cs.toronto.edu/~kriz/cifar.html): records of
// labels and 3072 pixels (3 channels of 32 x 32), nothing before or between them.
//
//   CIFAR-10   1 label, 3072 pixels: 3073 bytes       data_batch_1.bin … data_batch_5.bin
//   CIFAR-100  coarse label, fine label, 3072 pixels: 3074 bytes; the fine one is used    train.bin

#include <string>
#include <vector>

#include "core/result.h"
#include "exec/data/image_set.h"

namespace penstock {

// The files' records, one file after the other. Which of the two a file is, its name says if it is
// one of the names above (or test_batch.bin, test.bin), else its size. Bad input, with file and
// byte, for another shape than asked for, empty files, files cut short, labels beyond the classes.
Result<ImageSet> read_cifar(const std::vector<std::string>& paths, const ImageRequest& request);

}  // namespace penstock
