#include "exec/cpu/math/pointwise.h"

#include <gtest/gtest.h>

namespace penstock::cpu {
namespace {

TEST(Pointwise, SuitsOnlyTheKernelThatSeesOnePixelOfALargeImage) {
  const ConvolutionSpec spec{.channels = 4, .height = 16, .width = 16, .outputs = 4};
  EXPECT_TRUE(Pointwise::suits(spec));
  ConvolutionSpec wide = spec, strided = spec, padded = spec, small = spec;
  wide.kernel = 3;
  strided.stride = 2;
  padded.padding = 1;
  small.height = small.width = 7;
  for (const ConvolutionSpec& other : {wide, strided, padded, small})
    EXPECT_FALSE(Pointwise::suits(other));
  small.pass = ConvolutionPass::WeightGradient;  // pixels are the inner dimension there
  EXPECT_TRUE(Pointwise::suits(small));
}

TEST(Pointwise, NeedsRoomForTheWeightGradientBesideItsScratch) {
  ConvolutionSpec spec{.pass = ConvolutionPass::WeightGradient,
                       .samples = 2,
                       .channels = 5,
                       .height = 16,
                       .width = 16,
                       .outputs = 7};
  const auto made = Pointwise::prepare(spec);
  ASSERT_TRUE(made.has_value());
  EXPECT_GE(made->workspace_bytes().value, 5 * 7 * 4);
}

}  // namespace
}  // namespace penstock::cpu
