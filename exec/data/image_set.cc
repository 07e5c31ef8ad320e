#include "exec/data/image_set.h"

#include <fmt/format.h>

namespace penstock {

std::string shape_text(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return fmt::format("{}x{}x{}", channels, height, width);
}

tl::unexpected<Error> bad_images(const std::string& file, std::string message, std::string hint) {
  return fail(Error{.code = ErrorCode::BadInput,
                    .message = std::move(message),
                    .where = {.file = file},
                    .hint = std::move(hint)});
}

Result<void> expect_shape(const ImageRequest& request, std::int64_t channels, std::int64_t height,
                          std::int64_t width, const std::string& file, std::int64_t byte) {
  if (request.channels == channels && request.height == height && request.width == width) return {};
  const std::string place = byte < 0 ? "" : fmt::format("byte {}: ", byte);
  if (channels <= 0 || height <= 0 || width <= 0)
    return bad_images(file, fmt::format("{}images of {} hold nothing", place, shape_text(channels, height, width)),
                      "the file is damaged: fetch it again, or give another with --data");
  std::string hint = fmt::format("build the workload with channels={}", channels);
  hint += height == width ? fmt::format(",size={}", height) : ", or give other images with --data";
  return bad_images(file,
                    fmt::format("{}images of {}, but the workload reads {}", place,
                                shape_text(channels, height, width),
                                shape_text(request.channels, request.height, request.width)),
                    std::move(hint));
}

Result<void> expect_label(const ImageRequest& request, std::uint8_t label, const std::string& file,
                          std::int64_t byte) {
  if (label < request.classes) return {};
  return bad_images(file,
                    fmt::format("byte {}: label {}, but the workload has {} classes", byte, label,
                                request.classes),
                    "build the workload with as many classes as the data set has");
}

}  // namespace penstock
