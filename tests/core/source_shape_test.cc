#include "core/source_shape.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/core/samples.h"

namespace penstock {
namespace {

struct Fault {
  const char* name;
  std::function<void(Workload&)> make;
  const char* pointer;
  const char* message;  // part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

// Sources of the sample: image [2, 4, 6], label.
const Fault kFaults[] = {
    {"ImageOfFloats", [](Workload& w) { w.sources[0].sample.type = DataType::F32; },
     "/sources/0/sample/type", "not of bytes"},
    {"FlatImage", [](Workload& w) { w.sources[0].sample.dimensions = {48}; },
     "/sources/0/sample/dimensions", "1 dimensions"},
    {"LabelOfFloats", [](Workload& w) { w.sources[1].sample.type = DataType::F32; },
     "/sources/1/sample/type", "not of bytes"},
    {"RowOfLabels", [](Workload& w) { w.sources[1].sample.dimensions = {1}; },
     "/sources/1/sample/dimensions", "1 dimensions"},
    {"ImagesOfTwoShapes",
     [](Workload& w) {
       w.sources.push_back({"other", SourceKind::Image, {DataType::Byte, {1, 4, 6}}});
     },
     "/sources/2/sample/dimensions", "'other' and source 'image' are images of different shapes"},
    {"NoiseOfOtherShape",
     [](Workload& w) {
       w.sources.push_back({"noisy", SourceKind::NoisyImage, {DataType::Byte, {2, 6, 4}}});
     },
     "/sources/2/kind", "noise on no image"},
    {"NoiseAlone", [](Workload& w) { w.sources[0].kind = SourceKind::NoisyImage; },
     "/sources/0/kind", "noise on no image"},
    {"LabelOfNoImage", [](Workload& w) { w.sources[0].kind = SourceKind::Synthetic; },
     "/sources/1/kind", "the label of no image"},
};

class SourceFault : public testing::TestWithParam<Fault> {};

TEST_P(SourceFault, IsRefusedWithPlaceAndHint) {
  Workload workload = test::sample_image_workload();
  GetParam().make(workload);
  const auto result = validate(workload);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, SourceFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(SourceShape, NoiseOnTheImageIsRight) {
  Workload workload = test::sample_image_workload();
  workload.sources.push_back({"noisy", SourceKind::NoisyImage, {DataType::Byte, {2, 4, 6}}});
  for (int s = 0; s < 3; ++s) EXPECT_TRUE(check_source_shape(workload, SourceId(s))) << s;
}

}  // namespace
}  // namespace penstock
