#include "core/layer_shapes.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/core/samples.h"

namespace penstock {
namespace {

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
    {"EmbeddingThatReadsALayer", 1, [](Layer& x) { x.kind = LayerKind::Embedding; }, "/inputs",
     "1 inputs"},
    {"EmbeddingOfOtherLength", 0, [](Layer& x) { x.output.dimensions[0] = 5; },
     "/output/dimensions", "[5, 6]"},
    {"EmbeddingWithoutPositions", 0, [](Layer& x) { x.parameters.pop_back(); }, "/parameters",
     "1 parameters"},
    {"PositionTableTooShort", 0, [](Layer& x) { x.parameters[1].dimensions[0] = 3; },
     "/parameters/1/dimensions", "[3, 6], expected [4, 6]"},
    {"NormOfOtherWidth", 1, [](Layer& x) { x.output.dimensions[1] = 7; }, "/output/dimensions",
     "expected [4, 6]"},
    {"NormWithoutInput", 1, [](Layer& x) { x.inputs.clear(); }, "/inputs", "0 inputs"},
    {"LinearWithTransposedWeight", 2,
     [](Layer& x) {
       x.parameters[0].dimensions = {18, 6};
     },
     "/parameters/0/dimensions", "[18, 6], expected [6, 18]"},
    {"LinearWithoutBias", 2, [](Layer& x) { x.parameters.pop_back(); }, "/parameters", "takes 2"},
    {"LinearOfOtherLength", 2, [](Layer& x) { x.output.dimensions[0] = 5; }, "/output/dimensions",
     "expected [4, 18]"},
    {"AttentionWithoutHeads", 3, [](Layer& x) { x.attributes.clear(); }, "/attributes", "'heads'"},
    {"AttentionWithHeadsThatDoNotDivide", 3, [](Layer& x) { x.attributes["heads"] = 4; },
     "/attributes/heads", "4 heads"},
    {"AttentionWithNoHeads", 3, [](Layer& x) { x.attributes["heads"] = 0; }, "/attributes/heads",
     "0 heads"},
    {"AddOfOneInput", 4, [](Layer& x) { x.inputs.pop_back(); }, "/inputs", "takes 2"},
    {"AddOfUnequalShapes", 4, [](Layer& x) { x.inputs[1] = LayerId(2); }, "/inputs",
     "[4, 6] and [4, 18]"},
    {"GeluWithParameters", 5,
     [](Layer& x) {
       x.parameters = {{"w", {6}}};
     },
     "/parameters", "takes 0"},
    {"LossWithoutTargets", 7, [](Layer& x) { x.sources.clear(); }, "/sources", "0 sources"},
    {"SquaredErrorOfOtherTargets", 7, [](Layer& x) { x.kind = LayerKind::MeanSquared; },
     "/sources/0", "[4, 256]"},
    {"LossOfManyNumbers", 7, [](Layer& x) { x.output.dimensions = {4}; }, "/output/dimensions",
     "[4]"},
};

class LayerFault : public testing::TestWithParam<Fault> {};

TEST_P(LayerFault, IsRefusedWithPlaceAndHint) {
  Workload workload = test::sample_workload();
  GetParam().make(workload.networks[0].layers[static_cast<std::size_t>(GetParam().layer)]);
  const auto result = check_layer_shapes(workload, workload.networks[0], LayerId(GetParam().layer));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, LayerFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(LayerShapes, OfEveryKindInTheSampleAreRight) {
  const Workload workload = test::sample_workload();
  for (int i = 0; i < 8; ++i)
    EXPECT_TRUE(check_layer_shapes(workload, workload.networks[0], LayerId(i))) << i;
}

TEST(LayerShapes, OfOpaqueLayersAreFree) {
  Workload workload = test::sample_workload();
  workload.networks[0].layers[4].kind = LayerKind::Opaque;
  workload.networks[0].layers[4].output.dimensions = {9, 9, 9};
  EXPECT_TRUE(check_layer_shapes(workload, workload.networks[0], LayerId(4)));
}

}  // namespace
}  // namespace penstock
