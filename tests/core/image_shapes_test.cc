#include "core/image_shapes.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/layer_shapes.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::sample_image_workload;

struct Fault {
  const char* name;
  int layer;
  std::function<void(Layer&)> make;
  const char* pointer;
  const char* message;  // part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

const Fault kFaults[] = {
    {"PixelsOfOtherShape", 0,
     [](Layer& x) {
       x.output.dimensions = {2, 6, 4};
     },
     "/output/dimensions", "[2, 6, 4], expected [2, 4, 6]"},
    {"PixelsThatReadALayer", 0, [](Layer& x) { x.inputs = {LayerId(0)}; }, "/inputs", "1 inputs"},
    {"ConvWithoutKernel", 1, [](Layer& x) { x.attributes.erase("kernel"); }, "/attributes",
     "'kernel'"},
    {"ConvWithoutStride", 1, [](Layer& x) { x.attributes.erase("stride"); }, "/attributes",
     "'stride'"},
    {"ConvWithoutPadding", 1, [](Layer& x) { x.attributes.erase("padding"); }, "/attributes",
     "'padding'"},
    {"ConvThatStandsStill", 1, [](Layer& x) { x.attributes["stride"] = 0; }, "/attributes/stride",
     "stride 0"},
    {"ConvOfAHugeKernel", 1, [](Layer& x) { x.attributes["kernel"] = std::int64_t{1} << 40; },
     "/attributes/kernel", "kernel 1099511627776"},
    {"ConvWithNegativePadding", 1, [](Layer& x) { x.attributes["padding"] = -1; },
     "/attributes/padding", "padding -1"},
    {"ConvWithMorePaddingThanKernel", 1, [](Layer& x) { x.attributes["padding"] = 3; },
     "/attributes/padding", "pads by 3 around a kernel of 3"},
    {"ConvWithAKernelBeyondTheImage", 1,
     [](Layer& x) {
       x.attributes["kernel"] = 7;
       x.attributes["padding"] = 1;
     },
     "/attributes/kernel", "7x7, does not fit into 4x6 padded by 1"},
    {"ConvOfOtherHeight", 1, [](Layer& x) { x.output.dimensions[1] = 3; }, "/output/dimensions",
     "[3, 3, 3], expected [3, 2, 3]"},
    {"ConvWithTransposedWeight", 1,
     [](Layer& x) {
       x.parameters[0].dimensions = {2, 3, 3, 3};
     },
     "/parameters/0/dimensions", "[2, 3, 3, 3], expected [3, 2, 3, 3]"},
    {"ConvWithAWrongBias", 1, [](Layer& x) { x.parameters[1].dimensions = {2}; },
     "/parameters/1/dimensions", "[2], expected [3]"},
    {"ConvWithThreeParameters", 1,
     [](Layer& x) {
       x.parameters.push_back({"more", {3}});
     },
     "/parameters", "3 parameters"},
    {"ConvWithAStatistic", 1, [](Layer& x) { x.parameters[0].role = ParameterRole::Statistic; },
     "/parameters/0/role", "is a statistic, expected trained"},
    {"NormWithoutStatistics", 2, [](Layer& x) { x.parameters.resize(2); }, "/parameters",
     "2 parameters, its kind takes 4"},
    {"NormThatTrainsItsMean", 2, [](Layer& x) { x.parameters[2].role = ParameterRole::Trained; },
     "/parameters/2/role", "is trained, expected a statistic"},
    {"NormOfOtherChannels", 2, [](Layer& x) { x.parameters[3].dimensions = {4}; },
     "/parameters/3/dimensions", "[4], expected [3]"},
    {"NormOfOtherShape", 2, [](Layer& x) { x.output.dimensions[2] = 1; }, "/output/dimensions",
     "expected [3, 2, 3]"},
    {"ReluWithParameters", 3,
     [](Layer& x) {
       x.parameters = {{"w", {3}}};
     },
     "/parameters", "takes 0"},
    {"UpsampleWithoutFactor", 4, [](Layer& x) { x.attributes.clear(); }, "/attributes", "'factor'"},
    {"UpsampleByNothing", 4, [](Layer& x) { x.attributes["factor"] = 0; }, "/attributes/factor",
     "factor 0"},
    {"UpsampleOfOtherSize", 4, [](Layer& x) { x.attributes["factor"] = 3; }, "/output/dimensions",
     "expected [3, 6, 9]"},
    {"ConcatOfOne", 5, [](Layer& x) { x.inputs.pop_back(); }, "/inputs", "two or more"},
    {"ConcatOfOtherSizes", 5, [](Layer& x) { x.inputs[1] = LayerId(3); }, "/inputs/1",
     "[2, 4, 6] and [3, 2, 3]"},
    {"ConcatOfOtherChannels", 5, [](Layer& x) { x.output.dimensions[0] = 6; }, "/output/dimensions",
     "expected [5, 4, 6]"},
    {"PoolWithoutKernel", 6, [](Layer& x) { x.attributes.erase("kernel"); }, "/attributes",
     "'kernel'"},
    {"PoolOfOtherChannels", 6, [](Layer& x) { x.output.dimensions[0] = 3; }, "/output/dimensions",
     "expected [5, 2, 3]"},
    {"AverageOfAnImage", 7,
     [](Layer& x) {
       x.output.dimensions = {5, 1, 1};
     },
     "/output/dimensions", "expected [5]"},
    {"ConvOfAVector", 8, [](Layer& x) { x.kind = LayerKind::Conv2d; }, "/inputs/0",
     "reads [5], not an image"},
    {"NormOfAVector", 8, [](Layer& x) { x.kind = LayerKind::BatchNorm; }, "/inputs/0",
     "not an image"},
    {"LossOfAVectorOfLabels", 9, [](Layer& x) { x.sources = {SourceId(0)}; }, "/sources/0",
     "targets [2, 4, 6], expected []"},
};

class ImageLayerFault : public testing::TestWithParam<Fault> {};

TEST_P(ImageLayerFault, IsRefusedWithPlaceAndHint) {
  Workload workload = sample_image_workload();
  GetParam().make(workload.networks[0].layers[static_cast<std::size_t>(GetParam().layer)]);
  const auto result = check_layer_shapes(workload, workload.networks[0], LayerId(GetParam().layer));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, ImageLayerFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ImageShapes, OfEveryKindInTheSampleAreRight) {
  const Workload workload = sample_image_workload();
  const auto valid = validate(workload);
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(ImageShapes, AConvolutionMayDoWithoutBias) {
  Workload workload = sample_image_workload();
  workload.networks[0].layers[1].parameters.pop_back();
  EXPECT_TRUE(validate(workload));
}

TEST(ImageShapes, PixelsAreBytes) {
  Workload workload = sample_image_workload();
  workload.sources[0].sample.type = DataType::F32;
  const auto result = check_layer_shapes(workload, workload.networks[0], LayerId(0));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.pointer, "/sources/0");
}

// Dumoulin & Visin 2016, relationships 5 and 6: half padding keeps the size, strides round down.
TEST(ImageShapes, WindowsArePlacedAsInTheirClosedForm) {
  EXPECT_EQ(shapes::window_places(32, 3, 1, 1), 32);
  EXPECT_EQ(shapes::window_places(32, 3, 2, 1), 16);
  EXPECT_EQ(shapes::window_places(5, 3, 2, 1), 3);
  EXPECT_EQ(shapes::window_places(6, 3, 2, 1), 3);
  EXPECT_EQ(shapes::window_places(224, 7, 2, 3), 112);
  EXPECT_EQ(shapes::window_places(5, 3, 1, 0), 3);
  EXPECT_EQ(shapes::window_places(1, 1, 2, 0), 1);
}

}  // namespace
}  // namespace penstock
