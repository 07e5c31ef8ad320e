#include "exec/data/synthetic_images.h"

#include <algorithm>

#include "core/random.h"

namespace penstock {
namespace {

constexpr std::int64_t kGrid = 4;    // values of a pattern along each side; they wrap around
constexpr std::int64_t kStep = 256;  // fractions between two of them

std::uint64_t key(std::uint64_t seed, std::int64_t part) {
  return combine(seed, static_cast<std::uint64_t>(part));
}

// A place along a side: between grid values `cell` and `next`, `fraction` of the way.
struct Place {
  std::int64_t cell, next, fraction;
};

Place place(std::int64_t pixel, std::int64_t size) {
  const std::int64_t at = pixel * kGrid * kStep / size % (kGrid * kStep);
  return {at / kStep, (at / kStep + 1) % kGrid, at % kStep};
}

class Pattern {
 public:
  Pattern(std::uint64_t seed, std::int64_t channel) {
    for (std::int64_t i = 0; i < kGrid * kGrid; ++i)
      values_[i] = static_cast<std::int64_t>(
          combine(key(seed, channel), static_cast<std::uint64_t>(i)) % 256);
  }

  std::int64_t at(const Place& y, const Place& x) const {
    const std::int64_t upper = between(value(y.cell, x.cell), value(y.cell, x.next), x.fraction);
    const std::int64_t lower = between(value(y.next, x.cell), value(y.next, x.next), x.fraction);
    return between(upper, lower, y.fraction) / (kStep * kStep);
  }

 private:
  std::int64_t value(std::int64_t y, std::int64_t x) const { return values_[y * kGrid + x]; }
  // kStep times the blend of a and b.
  static std::int64_t between(std::int64_t a, std::int64_t b, std::int64_t fraction) {
    return a * (kStep - fraction) + b * fraction;
  }

  std::int64_t values_[kGrid * kGrid];
};

void append_image(const ImageRequest& request, std::uint64_t pattern, std::uint64_t image,
                  std::string& pixels) {
  const auto moved = [&](std::int64_t part, std::int64_t size) {
    const std::int64_t reach = size / 8;  // from -reach to reach; wraps, so never negative
    return size +
           static_cast<std::int64_t>(key(image, part) % static_cast<std::uint64_t>(2 * reach + 1)) -
           reach;
  };
  const std::int64_t dy = moved(0, request.height), dx = moved(1, request.width);
  const std::int64_t light = 128 + static_cast<std::int64_t>(key(image, 2) % 129);  // of 256
  std::uint64_t noise = key(image, 3);
  for (std::int64_t c = 0; c < request.channels; ++c) {
    const Pattern values(pattern, c);
    for (std::int64_t y = 0; y < request.height; ++y) {
      const Place row = place(y + dy, request.height);
      for (std::int64_t x = 0; x < request.width; ++x) {
        noise = mix(noise);
        const std::int64_t value = values.at(row, place(x + dx, request.width)) * light / 256;
        const std::int64_t noisy = value + static_cast<std::int64_t>(noise >> 60) - 8;
        pixels += static_cast<char>(std::clamp<std::int64_t>(noisy, 0, 255));
      }
    }
  }
}

}  // namespace

ImageSet synthetic_images(const ImageRequest& request, std::uint64_t seed) {
  ImageSet set;
  set.image_bytes = request.image_bytes();
  const std::int64_t count =
      std::clamp<std::int64_t>(kSyntheticBytes / set.image_bytes, 1, kSyntheticImages);
  const std::int64_t classes = request.classes > 0 ? request.classes : 10;
  const std::uint64_t patterns = combine(seed, hash("patterns")),
                      images = combine(seed, hash("images"));
  set.pixels.reserve(static_cast<std::size_t>(count * set.image_bytes));
  for (std::int64_t n = 0; n < count; ++n) {
    append_image(request, key(patterns, n % classes), key(images, n), set.pixels);
    if (request.classes > 0) set.labels += static_cast<char>(n % classes);
  }
  return set;
}

}  // namespace penstock
