#include "exec/data/cifar.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.h"

namespace penstock {
namespace {

constexpr std::int64_t kPixels = 3 * 32 * 32;

// Labels of a record by the file's name or size; 0: neither tells.
std::int64_t labels_of(const std::string& path, std::int64_t size) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.starts_with("data_batch") || name == "test_batch.bin") return 1;
  if (name == "train.bin" || name == "test.bin") return 2;
  const bool ten = size % (1 + kPixels) == 0, hundred = size % (2 + kPixels) == 0;
  if (ten == hundred) return 0;
  return ten ? 1 : 2;
}

Result<void> append(const std::string& path, const ImageRequest& request, ImageSet& set) {
  PENSTOCK_TRY(const std::string bytes, read_data(path));
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size == 0) return bad_images(path, "the file is empty", "fetch it again");
  // No label of either set is so large.
  if (bytes.starts_with("\x1f\x8b"))
    return bad_images(path, "byte 0: the file is compressed", "gunzip it first");
  const std::int64_t labels = labels_of(path, size);
  if (labels == 0)
    return bad_images(path,
                      fmt::format("{} bytes do not tell whether records are CIFAR-10's, of {}, or "
                                  "CIFAR-100's, of {}",
                                  size, 1 + kPixels, 2 + kPixels),
                      "name the file as its set does: data_batch_1.bin or train.bin");
  const std::int64_t record = labels + kPixels;
  if (size % record != 0)
    return bad_images(path,
                      fmt::format("the file ends at byte {}, within record {} of {} bytes", size,
                                  size / record, record),
                      "fetch it again");
  for (std::int64_t at = 0; at < size; at += record) {
    const std::int64_t label = at + labels - 1;
    if (request.classes > 0) {
      const char value = bytes[static_cast<std::size_t>(label)];
      PENSTOCK_TRY_VOID(expect_label(request, static_cast<std::uint8_t>(value), path, label));
      set.labels += value;
    }
    set.pixels.append(bytes, static_cast<std::size_t>(label + 1), kPixels);
  }
  return {};
}

}  // namespace

Result<ImageSet> read_cifar(const std::vector<std::string>& paths, const ImageRequest& request) {
  PENSTOCK_CHECK(!paths.empty(), "a set of files");
  PENSTOCK_TRY_VOID(expect_shape(request, 3, 32, 32, paths.front(), -1));
  ImageSet set;
  set.image_bytes = kPixels;
  for (const std::string& path : paths) PENSTOCK_TRY_VOID(append(path, request, set));
  return set;
}

}  // namespace penstock
