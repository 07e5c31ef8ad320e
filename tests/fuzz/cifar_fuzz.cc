// CIFAR files: a byte that chooses names, one of classes, and the bytes of one file or of two halves. What is read, written as
// CIFAR-10, reads back equal.

#include "exec/data/cifar.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(std::uint8_t names, std::uint8_t classes, std::string_view bytes) {
  static const ScratchFile files[] = {ScratchFile("data_batch_1.bin"), ScratchFile("train.bin"), ScratchFile("other.bin")};
  static const ScratchFile second("data_batch_2.bin"), copy("data_batch_3.bin");
  const ScratchFile& first = files[names % 3];
  const std::size_t half = names & 4 ? bytes.size() / 2 : bytes.size();
  first.write(bytes.substr(0, half));
  second.write(bytes.substr(half));
  const ImageRequest request{.channels = 3, .height = 32, .width = 32, .classes = classes};
  std::vector<std::string> paths = {first.path()};
  if (half < bytes.size()) paths.push_back(second.path());
  const auto set = read_cifar(paths, request);
  if (!set) return require_refusal(set.error());
  require(set->count() > 0 && set->pixels.size() % 3072 == 0, "images are whole");
  std::string out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(set->count()); ++i) {
    out += set->labels.empty() ? '\0' : set->labels[i];
    out += set->pixels.substr(i * 3072, 3072);
  }
  copy.write(out);
  const auto again = read_cifar({copy.path()}, request);
  require_value(again, "what is written reads back");
  require(again->pixels == set->pixels && again->labels == set->labels, "it reads back equal");
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 2) penstock::fuzz::run(data[0], data[1], penstock::fuzz::text(data + 2, size - 2));
  return 0;
}
