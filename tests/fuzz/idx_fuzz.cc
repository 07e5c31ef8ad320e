// IDX images. Four bytes of request (height, width, classes, 0: without a file of labels), two the length of the images'
// file; then that file and that of its labels. What is read, written as IDX, reads back equal.

#include <algorithm>

#include "exec/data/idx.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void append(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

bool equal(const ImageSet& a, const ImageSet& b) {
  return a.image_bytes == b.image_bytes && a.pixels == b.pixels && a.labels == b.labels;
}

void run(const std::uint8_t* data, std::string_view bytes) {
  static const ScratchFile images("train-images-idx3-ubyte"), labels("train-labels-idx1-ubyte");
  const ImageRequest request{.channels = 1, .height = data[0], .width = data[1], .classes = data[2]};
  if (request.height == 0 || request.width == 0) return;  // no workload asks for that
  const std::size_t length = std::min(bytes.size(), data[4] | static_cast<std::size_t>(data[5]) << 8);
  images.write(bytes.substr(0, length));
  data[3] == 0 ? labels.remove() : labels.write(bytes.substr(length));
  const auto set = read_idx(images.path(), request);
  if (!set) return require_refusal(set.error());
  const auto count = static_cast<std::uint32_t>(set->count());
  require(set->count() > 0 && (request.classes == 0 || set->labels.size() == count), "images have their labels");
  std::string out;
  for (const std::uint32_t number : {0x803u, count, std::uint32_t{data[0]}, std::uint32_t{data[1]}}) append(out, number);
  images.write(out + set->pixels);
  out.clear();
  for (const std::uint32_t number : {0x801u, count}) append(out, number);
  labels.write(out + set->labels);
  const auto again = read_idx(images.path(), request);
  require(equal(require_value(again, "what is written reads back"), *set), "it reads back equal");
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 6) penstock::fuzz::run(data, penstock::fuzz::text(data + 6, size - 6));
  return 0;
}
