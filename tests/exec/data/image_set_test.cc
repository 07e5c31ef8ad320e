#include "exec/data/image_set.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(ImageSet, CountsItsImages) {
  EXPECT_EQ(ImageSet{}.count(), 0);
  EXPECT_EQ((ImageSet{4, std::string(12, 'x'), ""}).count(), 3);
}

TEST(ImageSet, AnotherShapeIsRefusedWithPlaceAndTheParametersThatFit) {
  const ImageRequest request{3, 32, 32, 10};
  EXPECT_TRUE(expect_shape(request, 3, 32, 32, "a.bin", 8));
  const auto result = expect_shape(request, 1, 28, 28, "a.bin", 8);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.file, "a.bin");
  EXPECT_EQ(result.error().message, "byte 8: images of 1x28x28, but the workload reads 3x32x32");
  EXPECT_NE(result.error().hint.find("channels=1,size=28"), std::string::npos);
  EXPECT_EQ(expect_shape(request, 1, 28, 20, "a.bin", -1).error().hint.find("size="),
            std::string::npos);
}

TEST(ImageSet, ALabelBeyondTheClassesIsRefusedWithPlace) {
  const ImageRequest request{3, 32, 32, 10};
  EXPECT_TRUE(expect_label(request, 9, "a.bin", 5));
  const auto result = expect_label(request, 10, "a.bin", 5);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "byte 5: label 10, but the workload has 10 classes");
  EXPECT_FALSE(result.error().hint.empty());
}

}  // namespace
}  // namespace penstock
