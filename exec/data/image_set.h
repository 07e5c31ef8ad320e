#pragma once

// A set of images in memory, whichever file it came from, and what a workload asks of one.

#include <cstdint>
#include <string>

#include "core/result.h"

namespace penstock {

// Images of `channels` planes of height x width bytes; labels below `classes`, 0: none are read.
struct ImageRequest {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t classes = 0;
  bool held_out = false;  // of a folder the test images, not those to train on

  std::int64_t image_bytes() const { return channels * height * width; }
};

struct ImageSet {
  std::int64_t image_bytes = 0;
  std::string pixels;  // one image after the other: channels, rows, columns
  std::string labels;  // one byte an image; empty where none were asked for

  std::int64_t count() const {
    return image_bytes == 0 ? 0 : static_cast<std::int64_t>(pixels.size()) / image_bytes;
  }
};

// "1x28x28": channels, height, width.
std::string shape_text(std::int64_t channels, std::int64_t height, std::int64_t width);

// The readers' errors: bad input, of a file.
tl::unexpected<Error> bad_images(const std::string& file, std::string message, std::string hint);

// That a file's images are of the shape asked for; `byte`: where the file says of what shape they
// are, negative where it does not.
Result<void> expect_shape(const ImageRequest& request, std::int64_t channels, std::int64_t height,
                          std::int64_t width, const std::string& file, std::int64_t byte);

// That a label is below the classes asked for.
Result<void> expect_label(const ImageRequest& request, std::uint8_t label, const std::string& file,
                          std::int64_t byte);

}  // namespace penstock
