#include <gtest/gtest.h>

#include <string>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

using Dims = std::vector<std::int64_t>;

const Layer& layer(const Network& network, const std::string& name) {
  for (const Layer& layer : network.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer " << name;
  return network.layers[0];
}

// A double convolution from a to c channels: two weights, two norms with their statistics.
std::int64_t two(std::int64_t a, std::int64_t c) {
  return 9 * a * c + 9 * c * c + 8 * c;
}

TEST(Unet, IsValidWithItsClosedFormOfParametersOverAGrid) {
  for (const std::int64_t levels : {1, 2, 3}) {
    for (const std::int64_t width : {1, 8}) {
      const auto workload = build_workload("unet:levels=" + std::to_string(levels) + ",width=" +
                                           std::to_string(width) + ",size=24,channels=2");
      ASSERT_TRUE(workload) << workload.error().text();
      std::int64_t count = (width + 1) * 2, before = 2;  // head
      for (std::int64_t l = 0; l < levels; ++l) {
        const std::int64_t c = width << l;
        count += two(before, c) + two(2 * c, c) + 9 * 2 * c * c + c;
        before = c;
      }
      count += two(before, width << levels);
      EXPECT_EQ(workload->networks[0].parameter_count(), count) << workload->name;
    }
  }
}

TEST(Unet, SkipsJoinTheTwoHalvesOfEachLevel) {
  const auto workload = build_workload("unet:levels=3,width=4,size=16");
  ASSERT_TRUE(workload);
  const Network& network = workload->networks[0];
  for (const std::string level : {"0", "1", "2"}) {
    const Layer& concat = layer(network, "up" + level + ".concat");
    EXPECT_EQ(network.layers[concat.inputs.at(0).index()].name, "down" + level + ".relu2");
    EXPECT_EQ(network.layers[concat.inputs.at(1).index()].name, "up" + level + ".conv");
  }
  EXPECT_EQ(layer(network, "bottom.relu2").output.dimensions, (Dims{32, 2, 2}));
  EXPECT_EQ(layer(network, "up0.concat").output.dimensions, (Dims{8, 16, 16}));
  EXPECT_EQ(layer(network, "head").output.dimensions, (Dims{3, 16, 16}));
}

TEST(Unet, TheSizeIsAMultipleOfWhatItsLevelsHalve) {
  const auto workload = build_workload("unet:levels=3,size=28");
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, ErrorCode::Usage);
  EXPECT_NE(workload.error().message.find("size=28 cannot be halved evenly 3 times"),
            std::string::npos);
  EXPECT_NE(workload.error().hint.find("multiple of 8"), std::string::npos);
  EXPECT_TRUE(build_workload("unet:levels=2,size=28"));
}

}  // namespace
}  // namespace penstock
