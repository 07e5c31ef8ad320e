#include "exec/data/idx.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "core/file.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kImages = 0x00000803, kLabels = 0x00000801;

std::uint32_t number(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// Magic number and length of the header, which holds `sizes` numbers behind it.
Result<void> expect_header(std::string_view bytes, const std::string& file, std::uint32_t magic,
                           std::size_t sizes) {
  const std::string_view what = magic == kImages ? "images" : "labels";
  if (bytes.size() >= 4 && number(bytes, 0) != magic) {
    const bool zipped = number(bytes, 0) >> 16 == 0x1f8b;
    return bad_images(file,
                      fmt::format("byte 0: magic number 0x{:08x}, but IDX {} begin with 0x{:08x}",
                                  number(bytes, 0), what, magic),
                      zipped ? "the file is compressed: gunzip it first"
                             : fmt::format("give an IDX file of {}", what));
  }
  const std::size_t header = 4 * (1 + sizes);
  if (bytes.size() >= header) return {};
  return bad_images(file,
                    bytes.empty() ? "the file is empty"
                                  : fmt::format("the file ends at byte {}, within its header of {}",
                                                bytes.size(), header),
                    "fetch it again");
}

// `count` items of `size` bytes behind the header, to the last byte.
Result<void> expect_length(std::string_view bytes, const std::string& file, std::int64_t header,
                           std::int64_t count, std::int64_t size, std::string_view what) {
  const std::int64_t body = static_cast<std::int64_t>(bytes.size()) - header;
  if (count == 0)
    return bad_images(file, fmt::format("byte 4: the file holds no {}s", what),
                      "give a file with some");
  if (body / size < count)
    return bad_images(file,
                      fmt::format("the file ends at byte {}, within {} {} of the {} that byte 4 "
                                  "announces",
                                  bytes.size(), what, body / size, count),
                      "fetch it again");
  if (body > count * size)
    return bad_images(file,
                      fmt::format("byte {}: {} bytes are left over behind the last of {} {}s",
                                  header + count * size, body - count * size, count, what),
                      "fetch it again");
  return {};
}

Result<std::string> read_labels(const std::string& images_path, const ImageRequest& request,
                                std::int64_t images) {
  const std::string path = idx_labels_beside(images_path);
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored))
    return bad_images(
        images_path,
        path.empty() ? std::string("the workload reads labels, and the name of this file does not "
                                   "tell the name of theirs")
                     : fmt::format("the workload reads labels, and beside it is no {}",
                                   fs::path(path).filename().string()),
        "keep both files in one folder: train-images-idx3-ubyte and train-labels-idx1-ubyte");
  PENSTOCK_TRY(std::string bytes, read_data(path));
  PENSTOCK_TRY_VOID(expect_header(bytes, path, kLabels, 1));
  const std::int64_t count = number(bytes, 4);
  if (count != images)
    return bad_images(path,
                      fmt::format("byte 4: {} labels, but {} holds {} images", count,
                                  fs::path(images_path).filename().string(), images),
                      "give images and labels of one set");
  PENSTOCK_TRY_VOID(expect_length(bytes, path, 8, count, 1, "label"));
  for (std::size_t i = 8; i < bytes.size(); ++i)
    PENSTOCK_TRY_VOID(expect_label(request, static_cast<std::uint8_t>(bytes[i]), path,
                                   static_cast<std::int64_t>(i)));
  bytes.erase(0, 8);
  return bytes;
}

}  // namespace

std::string idx_labels_beside(const std::string& images_path) {
  const fs::path path(images_path);
  std::string name = path.filename().string();
  const std::size_t images = name.rfind("images");
  if (images == std::string::npos) return "";
  name.replace(images, 6, "labels");
  if (const std::size_t idx3 = name.rfind("idx3"); idx3 != std::string::npos)
    name.replace(idx3, 4, "idx1");
  return (path.parent_path() / name).string();
}

Result<ImageSet> read_idx(const std::string& images_path, const ImageRequest& request) {
  PENSTOCK_TRY(std::string bytes, read_data(images_path));
  PENSTOCK_TRY_VOID(expect_header(bytes, images_path, kImages, 3));
  const std::int64_t count = number(bytes, 4);
  PENSTOCK_TRY_VOID(expect_shape(request, 1, number(bytes, 8), number(bytes, 12), images_path, 8));
  PENSTOCK_TRY_VOID(expect_length(bytes, images_path, 16, count, request.image_bytes(), "image"));
  ImageSet set;
  set.image_bytes = request.image_bytes();
  if (request.classes > 0) {
    PENSTOCK_TRY(set.labels, read_labels(images_path, request, count));
  }
  bytes.erase(0, 16);
  set.pixels = std::move(bytes);
  return set;
}

}  // namespace penstock
