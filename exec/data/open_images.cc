#include "exec/data/open_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "exec/data/cifar.h"
#include "exec/data/idx.h"
#include "exec/data/synthetic_images.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// Names of the files of a set in a folder.
struct SetNames {
  std::string_view what;
  std::string_view idx;  // with a '-' or a '.' before "idx3"
  std::string_view ten, hundred;
  std::string_view wanted;
};
constexpr SetNames kTraining = {
    "training", "train-images", "data_batch", "train.bin",
    "a folder holds train-images-idx3-ubyte and train-labels-idx1-ubyte (MNIST), data_batch_*.bin "
    "(CIFAR-10) or train.bin (CIFAR-100); or give one file"};
constexpr SetNames kHeldOut = {
    "test", "t10k-images", "test_batch", "test.bin",
    "a folder holds t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte (MNIST), test_batch.bin "
    "(CIFAR-10) or test.bin (CIFAR-100); or give one file"};

Result<ImageSet> open_folder(const std::string& path, const ImageRequest& request) {
  const SetNames& names = request.held_out ? kHeldOut : kTraining;
  std::error_code failed;
  std::vector<std::string> idx, ten, hundred;
  std::string compressed;  // one of them
  for (fs::directory_iterator it(path, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (name == fmt::format("{}-idx3-ubyte", names.idx) ||
        name == fmt::format("{}.idx3-ubyte", names.idx))
      idx.push_back(it->path().string());
    if (name.starts_with(names.ten) && name.ends_with(".bin"))
      ten.push_back(it->path().string());
    if (name == names.hundred) hundred.push_back(it->path().string());
    const bool of_a_set = name.starts_with(names.idx) || name.starts_with(names.ten) ||
                          name.starts_with(names.hundred) || name.starts_with("cifar-");
    if (of_a_set && name.ends_with(".gz") && (compressed.empty() || name < compressed))
      compressed = name;
  }
  if (failed)
    return bad_images(path, "cannot read the folder: " + failed.message(),
                      "make it readable, or give one file");
  const auto sets = static_cast<int>(!idx.empty()) + !ten.empty() + !hundred.empty();
  if (sets == 0 && !compressed.empty())
    return bad_images(path,
                      fmt::format("the folder holds {} images only compressed, in {}", names.what,
                                  compressed),
                      compressed.ends_with(".tar.gz")
                          ? fmt::format("tar -xzf {}, and give the folder that it holds", compressed)
                          : "gunzip them first");
  if (sets == 0)
    return bad_images(path, fmt::format("the folder holds no {} images", names.what),
                      std::string(names.wanted));
  if (sets > 1 || idx.size() > 1)
    return bad_images(path,
                      fmt::format("the folder holds more than one set of {} images", names.what),
                      "give the file of one of them, or put each in a folder of its own");
  if (!idx.empty()) return read_idx(idx.front(), request);
  std::vector<std::string>& files = ten.empty() ? hundred : ten;
  std::sort(files.begin(), files.end());
  return read_cifar(files, request);
}

}  // namespace

Result<ImageSet> open_images(const std::string& path, const ImageRequest& request,
                             std::uint64_t seed) {
  if (path == kSyntheticData) return synthetic_images(request, seed);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_folder(path, request);
  if (path.ends_with(".bin")) return read_cifar({path}, request);
  return read_idx(path, request);
}

}  // namespace penstock
