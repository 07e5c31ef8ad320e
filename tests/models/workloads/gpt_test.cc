#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

std::int64_t closed_form(std::int64_t layers, std::int64_t h, std::int64_t vocabulary,
                         std::int64_t tokens) {
  return layers * (12 * h * h + 13 * h) + 2 * h + (vocabulary + tokens) * h + (h + 1) * vocabulary;
}

Workload gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t tokens,
             std::int64_t vocabulary) {
  const std::string text = "gpt:layers=" + std::to_string(layers) +
                           ",hidden=" + std::to_string(hidden) + ",heads=" + std::to_string(heads) +
                           ",sequence=" + std::to_string(tokens) +
                           ",vocabulary=" + std::to_string(vocabulary);
  auto workload = build_workload(text);
  EXPECT_TRUE(workload) << workload.error().text();
  return *workload;
}

const Layer& layer(const Network& network, const std::string& name) {
  for (const Layer& layer : network.layers)
    if (layer.name == name) return layer;
  ADD_FAILURE() << "no layer " << name;
  return network.layers[0];
}

TEST(Gpt, IsValidWithItsClosedFormOfParametersOverAGrid) {
  for (const std::int64_t layers : {1, 2, 7}) {
    for (const std::int64_t hidden : {4, 64, 192}) {
      for (const std::int64_t heads : {1, 2, 4}) {
        for (const std::int64_t tokens : {1, 5, 128}) {
          const Workload workload = gpt(layers, hidden, heads, tokens, 300);
          const auto valid = validate(workload);
          ASSERT_TRUE(valid) << workload.name << ": " << valid.error().text();
          EXPECT_EQ(workload.networks[0].parameter_count(),
                    closed_form(layers, hidden, 300, tokens))
              << workload.name;
          EXPECT_EQ(workload.networks[0].layers.size(), static_cast<std::size_t>(10 * layers + 4));
        }
      }
    }
  }
}

// GPT-2 small has 124,439,808 parameters with the head tied to the token table; ours is separate
// and has a bias.
TEST(Gpt, HasTheParametersOfGpt2SmallButForTheHead) {
  const Workload workload = gpt(12, 768, 12, 1024, 50257);
  EXPECT_EQ(workload.networks[0].parameter_count(), 124'439'808 + 769 * 50257);
}

TEST(Gpt, ABlockIsWiredAsAPreNormTransformer) {
  const Workload workload = gpt(2, 8, 2, 4, 256);
  const Network& network = workload.networks[0];
  const auto name_of_input = [&](const std::string& name, std::size_t i) {
    return network.layers[layer(network, name).inputs.at(i).index()].name;
  };
  EXPECT_EQ(name_of_input("block0.attention.norm", 0), "embedding");
  EXPECT_EQ(name_of_input("block1.attention.norm", 0), "block0.mlp.add");
  EXPECT_EQ(name_of_input("block1.attention.add", 0), "block0.mlp.add");
  EXPECT_EQ(name_of_input("block1.attention.add", 1), "block1.attention.project");
  EXPECT_EQ(name_of_input("block1.mlp.add", 0), "block1.attention.add");
  EXPECT_EQ(name_of_input("norm", 0), "block1.mlp.add");
  EXPECT_EQ(layer(network, "block1.attention.qkv").output.dimensions,
            (std::vector<std::int64_t>{4, 24}));
  EXPECT_EQ(layer(network, "block1.attention.qkv").parameters[0].dimensions,
            (std::vector<std::int64_t>{8, 24}));
  EXPECT_EQ(layer(network, "block1.mlp.expand").output.dimensions,
            (std::vector<std::int64_t>{4, 32}));
}

TEST(Gpt, ProjectionsIntoTheResidualStreamStartSmallerWithDepth) {
  const Workload workload = gpt(8, 8, 2, 4, 256);
  const Network& network = workload.networks[0];
  EXPECT_DOUBLE_EQ(layer(network, "block3.mlp.project").parameters[0].deviation, 0.02 / 4);
  EXPECT_DOUBLE_EQ(layer(network, "block3.attention.project").parameters[0].deviation, 0.02 / 4);
  EXPECT_DOUBLE_EQ(layer(network, "block3.mlp.expand").parameters[0].deviation, 0.02);
  EXPECT_EQ(layer(network, "block3.mlp.norm").parameters[0].initializer, Initializer::Ones);
}

TEST(Gpt, HeadsMustDivideTheWidth) {
  const auto workload = build_workload("gpt:hidden=100,heads=3");
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, ErrorCode::Usage);
  EXPECT_NE(workload.error().message.find("3 heads"), std::string::npos);
}

}  // namespace
}  // namespace penstock
