#include "core/image_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/invalid.h"

namespace penstock::shapes {
namespace {

// Beyond any use, and small enough that sums with a dimension (up to 2^56) stay within 63 bits.
constexpr std::int64_t kMostAttribute = std::int64_t{1} << 30;

// a·b, or the largest number where that is more.
std::int64_t limited_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

Result<void> is_image(const Operands& x, std::size_t input) {
  if (x.input(input).size() == 3) return {};
  return invalid(fmt::format("/inputs/{}", input),
                 fmt::format("{} reads {}, not an image", x.who(), text(x.input(input))),
                 "an image is [channels, height, width]");
}

Result<std::int64_t> attribute(const Operands& x, const std::string& key, std::int64_t least) {
  const auto found = x.layer.attributes.find(key);
  if (found == x.layer.attributes.end())
    return invalid("/attributes", fmt::format("{} has no attribute '{}'", x.who(), key),
                   "docs/formats/workload.md lists the attributes by kind");
  if (found->second < least || found->second > kMostAttribute)
    return invalid("/attributes/" + key, fmt::format("{} has {} {}", x.who(), key, found->second),
                   fmt::format("it is from {} to {}", least, kMostAttribute));
  return found->second;
}

struct Window {
  std::int64_t kernel = 1, height = 1, width = 1;  // height and width of what comes out
};

Result<Window> window(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(is_image(x, 0));
  PENSTOCK_TRY(const std::int64_t kernel, attribute(x, "kernel", 1));
  PENSTOCK_TRY(const std::int64_t stride, attribute(x, "stride", 1));
  PENSTOCK_TRY(const std::int64_t padding, attribute(x, "padding", 0));
  if (padding >= kernel)
    return invalid("/attributes/padding",
                   fmt::format("{} pads by {} around a kernel of {}", x.who(), padding, kernel),
                   "padding is less than the kernel: else windows would lie in it alone");
  const std::int64_t height = x.input(0)[1], width = x.input(0)[2];
  if (kernel > std::min(height, width) + 2 * padding)
    return invalid("/attributes/kernel",
                   fmt::format("the kernel of {}, {}x{}, does not fit into {}x{} padded by {}",
                               x.who(), kernel, kernel, height, width, padding),
                   "a smaller kernel, or a larger image");
  return Window{kernel, window_places(height, kernel, stride, padding),
                window_places(width, kernel, stride, padding)};
}

}  // namespace

Result<void> pixels(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 0, 1));
  if (x.sources[0].type != DataType::Byte)
    return invalid("/sources/0", x.who() + " reads a source that is not of bytes",
                   "pixels are bytes");
  PENSTOCK_TRY_VOID(output_is(x, x.sources[0].dimensions));
  return parameters_are(x, {});
}

Result<void> conv2d(const Operands& x) {
  PENSTOCK_TRY(const Window to, window(x));
  const std::int64_t channels = x.output().empty() ? 1 : x.output().front();
  PENSTOCK_TRY_VOID(output_is(x, {channels, to.height, to.width}));
  const Dimensions weight = {channels, x.input(0)[0], to.kernel, to.kernel};
  if (x.layer.parameters.size() == 1) return parameters_are(x, {weight});
  return parameters_are(x, {weight, {channels}});
}

Result<void> batch_norm(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(is_image(x, 0));
  PENSTOCK_TRY_VOID(output_is(x, x.input(0)));
  const Dimensions channels = {x.input(0)[0]};
  return parameters_are(x, {channels, channels, channels, channels}, 2);
}

Result<void> max_pool(const Operands& x) {
  PENSTOCK_TRY(const Window to, window(x));
  PENSTOCK_TRY_VOID(output_is(x, {x.input(0)[0], to.height, to.width}));
  return parameters_are(x, {});
}

Result<void> average_pool(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(is_image(x, 0));
  PENSTOCK_TRY_VOID(output_is(x, {x.input(0)[0]}));
  return parameters_are(x, {});
}

Result<void> upsample(const Operands& x) {
  PENSTOCK_TRY_VOID(count(x, 1, 0));
  PENSTOCK_TRY_VOID(is_image(x, 0));
  PENSTOCK_TRY(const std::int64_t factor, attribute(x, "factor", 1));
  PENSTOCK_TRY_VOID(output_is(x, {x.input(0)[0], limited_product(factor, x.input(0)[1]),
                                  limited_product(factor, x.input(0)[2])}));
  return parameters_are(x, {});
}

Result<void> concat(const Operands& x) {
  if (x.layer.inputs.size() < 2)
    return invalid(
        "/inputs",
        fmt::format("{} has {} inputs, its kind takes two or more", x.who(), x.layer.inputs.size()),
        "inputs name the layers it reads");
  PENSTOCK_TRY_VOID(count(x, x.layer.inputs.size(), 0));
  Dimensions whole;
  for (std::size_t i = 0; i < x.inputs.size(); ++i) {
    PENSTOCK_TRY_VOID(is_image(x, i));
    if (i == 0) {
      whole = x.input(0);
      continue;
    }
    if (x.input(i)[1] != whole[1] || x.input(i)[2] != whole[2])
      return invalid(fmt::format("/inputs/{}", i),
                     fmt::format("{} joins {} and {}", x.who(), text(x.input(0)), text(x.input(i))),
                     "the inputs have one height and one width");
    if (__builtin_add_overflow(whole[0], x.input(i)[0], &whole[0])) whole[0] = INT64_MAX;
  }
  PENSTOCK_TRY_VOID(output_is(x, whole));
  return parameters_are(x, {});
}

}  // namespace penstock::shapes
