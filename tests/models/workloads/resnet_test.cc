#include <gtest/gtest.h>

#include <string>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

using Dims = std::vector<std::int64_t>;

Workload resnet(const std::string& parameters) {
  auto workload = build_workload("resnet:" + parameters);
  EXPECT_TRUE(workload) << workload.error().text();
  return *workload;
}

const Layer& layer(const Network& network, const std::string& name) {
  for (const Layer& layer : network.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer " << name;
  return network.layers[0];
}

std::int64_t trained(const Network& network) {
  std::int64_t count = 0;
  for (const Layer& layer : network.layers)
    for (const Parameter& parameter : layer.parameters)
      if (parameter.role == ParameterRole::Trained) count += parameter.elements();
  return count;
}

// As models/workloads/resnet.cc writes it.
std::int64_t closed_form(std::int64_t stages, std::int64_t blocks, std::int64_t w,
                         std::int64_t channels, std::int64_t classes) {
  std::int64_t count = 9 * channels * w + 4 * w, c = w;
  for (std::int64_t s = 0; s < stages; ++s, c *= 2) {
    count += blocks * (18 * c * c + 8 * c);
    if (s > 0) count += 9 * c * (c / 2) - 9 * c * c + c * (c / 2) + 4 * c;
  }
  return count + classes * (c / 2 + 1);
}

TEST(Resnet, IsValidWithItsClosedFormOfParametersOverAGrid) {
  for (const int stages : {1, 2, 4}) {
    for (const int blocks : {1, 3}) {
      for (const int width : {1, 8, 16}) {
        const Workload workload =
            resnet("stages=" + std::to_string(stages) + ",blocks=" + std::to_string(blocks) +
                   ",width=" + std::to_string(width) + ",size=9,channels=2,classes=5");
        EXPECT_EQ(workload.networks[0].parameter_count(), closed_form(stages, blocks, width, 2, 5))
            << workload.name;
      }
    }
  }
}

// He et al. 2016, table 6: ResNet-20 has 0.27 million parameters, ResNet-56 0.85 (theirs pad with
// zeros where ours project: 2,560 weights and 192 norm parameters more).
TEST(Resnet, HasTheParametersOfResnet20And56) {
  EXPECT_EQ(trained(resnet("blocks=3").networks[0]), 269'722 + 2'560 + 192);
  EXPECT_EQ(trained(resnet("blocks=9").networks[0]), 853'018 + 2'560 + 192);
}

TEST(Resnet, ABlockIsWiredAsAResidualBlock) {
  const Workload workload = resnet("blocks=2");
  const Network& network = workload.networks[0];
  const auto input = [&](const std::string& name, std::size_t i) {
    return network.layers[layer(network, name).inputs.at(i).index()].name;
  };
  EXPECT_EQ(input("stage0.block0.add", 0), "stem.relu");
  EXPECT_EQ(input("stage0.block0.add", 1), "stage0.block0.norm2");
  EXPECT_EQ(input("stage0.block1.conv1", 0), "stage0.block0.relu2");
  EXPECT_EQ(input("stage1.block0.add", 0), "stage1.block0.project.norm");
  EXPECT_EQ(input("stage1.block0.project", 0), "stage0.block1.relu2");
  EXPECT_EQ(layer(network, "stage1.block0.project").parameters[0].dimensions, (Dims{32, 16, 1, 1}));
  EXPECT_EQ(layer(network, "stage1.block0.conv1").attribute("stride"), 2);
  EXPECT_EQ(layer(network, "stage1.block1.conv1").attribute("stride"), 1);
  EXPECT_EQ(layer(network, "stage2.block1.relu2").output.dimensions, (Dims{64, 8, 8}));
  EXPECT_EQ(layer(network, "head").output.dimensions, (Dims{10}));
}

TEST(Resnet, OddSizesRoundUp) {
  const Workload workload = resnet("size=7");
  EXPECT_EQ(layer(workload.networks[0], "stage2.block0.relu2").output.dimensions, (Dims{64, 2, 2}));
}

TEST(Resnet, AnImageOfOnePixelCannotBeHalved) {
  const auto workload = build_workload("resnet:stages=4,size=7");
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, ErrorCode::Usage);
  EXPECT_NE(workload.error().message.find("size=7 cannot be halved 3 times"), std::string::npos);
  EXPECT_FALSE(workload.error().hint.empty());
  EXPECT_TRUE(build_workload("resnet:stages=4,size=8"));
}

TEST(Resnet, LabelsAreBytes) {
  EXPECT_TRUE(build_workload("resnet:classes=256"));
  EXPECT_EQ(build_workload("resnet:classes=257").error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace penstock
