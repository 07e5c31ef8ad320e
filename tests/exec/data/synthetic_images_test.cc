#include "exec/data/synthetic_images.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace penstock {
namespace {

constexpr ImageRequest kRequest{3, 16, 16, 4};

std::int64_t difference(const std::string& a, const std::string& b) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::abs(static_cast<int>(static_cast<unsigned char>(a[i])) -
                    static_cast<int>(static_cast<unsigned char>(b[i])));
  return sum;
}

TEST(SyntheticImages, AreTheSameOfOneSeedAndOthersOfAnother) {
  const ImageSet a = synthetic_images(kRequest, 1), b = synthetic_images(kRequest, 1);
  EXPECT_EQ(a.count(), kSyntheticImages);
  EXPECT_EQ(a.pixels, b.pixels);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_NE(a.pixels, synthetic_images(kRequest, 2).pixels);
}

// The mean image of a class from one half of the set tells the class of most images of the other:
// there is something to learn.
TEST(SyntheticImages, TheNearestMeanOfAClassTellsMostImages) {
  const ImageSet set = synthetic_images(kRequest, 3);
  const auto bytes = static_cast<std::size_t>(set.image_bytes);
  const std::size_t half = static_cast<std::size_t>(set.count()) / 2;
  std::vector<std::vector<std::int64_t>> sums(4, std::vector<std::int64_t>(bytes, 0));
  for (std::size_t n = 0; n < half; ++n)
    for (std::size_t i = 0; i < bytes; ++i)
      sums[static_cast<std::size_t>(set.labels[n])][i] +=
          static_cast<unsigned char>(set.pixels[n * bytes + i]);
  std::vector<std::string> means;
  for (const auto& sum : sums) {
    std::string& mean = means.emplace_back();
    for (const std::int64_t x : sum)
      mean += static_cast<char>(x / static_cast<std::int64_t>(half / 4));
  }
  std::size_t right = 0;
  for (std::size_t n = half; n < 2 * half; ++n) {
    const std::string image = set.pixels.substr(n * bytes, bytes);
    std::size_t nearest = 0;
    for (std::size_t c = 1; c < 4; ++c)
      if (difference(image, means[c]) < difference(image, means[nearest])) nearest = c;
    right += nearest == static_cast<std::size_t>(set.labels[n]);
  }
  EXPECT_GT(right, half * 6 / 10);  // by chance a quarter
  EXPECT_LT(right, half);           // and not without effort
}

TEST(SyntheticImages, AreSmoothSoThatNoiseStandsOut) {
  const ImageSet set = synthetic_images({1, 32, 32, 0}, 5);
  std::int64_t steps = 0;
  for (std::size_t i = 1; i < 32 * 32; ++i)
    if (i % 32 != 0)
      steps += std::abs(static_cast<unsigned char>(set.pixels[i]) -
                        static_cast<unsigned char>(set.pixels[i - 1]));
  EXPECT_LT(steps / (31 * 32), 24);
  EXPECT_TRUE(set.labels.empty());
}

TEST(SyntheticImages, LargeOnesAreFewer) {
  const ImageSet set = synthetic_images({1, 4096, 4096, 2}, 5);
  EXPECT_EQ(set.count(), 2);
  EXPECT_EQ(synthetic_images({1, 1, 1, 256}, 5).labels[255], static_cast<char>(255));
}

}  // namespace
}  // namespace penstock
