#include "core/layer_operands.h"

#include <gtest/gtest.h>

namespace penstock::shapes {
namespace {

Layer of_parameters(std::vector<ParameterRole> roles) {
  Layer layer;
  layer.name = "x";
  for (std::size_t i = 0; i < roles.size(); ++i)
    layer.parameters.push_back({"p" + std::to_string(i), {3}, Initializer::Zeros, 0, roles[i]});
  return layer;
}

constexpr auto Trained = ParameterRole::Trained, Statistic = ParameterRole::Statistic;

TEST(LayerOperands, ParametersAreTrainedUnlessTheKindHasStatistics) {
  const Layer trained = of_parameters({Trained, Trained}),
              mixed = of_parameters({Trained, Statistic});
  EXPECT_TRUE(parameters_are({trained, {}, {}}, {{3}, {3}}));
  EXPECT_TRUE(parameters_are({mixed, {}, {}}, {{3}, {3}}, 1));
  EXPECT_EQ(parameters_are({mixed, {}, {}}, {{3}, {3}}).error().where.pointer,
            "/parameters/1/role");
  EXPECT_EQ(parameters_are({trained, {}, {}}, {{3}, {3}}, 1).error().where.pointer,
            "/parameters/1/role");
}

TEST(LayerOperands, ATensorWithoutDimensionsIsNoInput) {
  Layer layer;
  layer.name = "x";
  EXPECT_EQ(count({layer, {{DataType::F32, {}}}, {}}, 1, 0).error().where.pointer, "/inputs/0");
  EXPECT_TRUE(count({layer, {}, {{DataType::Byte, {}}}}, 0, 1));
}

TEST(LayerOperands, ShapesReadAsLists) {
  EXPECT_EQ(text({3, 32, 32}), "[3, 32, 32]");
  EXPECT_EQ(text({}), "[]");
}

}  // namespace
}  // namespace penstock::shapes
