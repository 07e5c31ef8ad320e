#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/workload.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::layer_ids;
using test::sample_distillation;
using test::sample_workload;

struct Fault {
  const char* name;
  std::function<void(Workload&)> make;
  const char* pointer;
  const char* message;  // part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

Layer& layer(Workload& w, int i) {
  return w.networks[0].layers[static_cast<std::size_t>(i)];
}

const Fault kFaults[] = {
    {"BatchOfZero", [](Workload& w) { w.global_batch = 0; }, "/global_batch", "is 0"},
    {"NoNetworks", [](Workload& w) { w.networks.clear(); }, "/networks", "no networks"},
    {"NoLayers", [](Workload& w) { w.networks[0].layers.clear(); }, "/networks/0/layers",
     "no layers"},
    {"TwoLayersOfOneName", [](Workload& w) { layer(w, 2).name = "embed"; },
     "/networks/0/layers/2/name", "two layers are named 'embed'"},
    {"TwoParametersOfOneName", [](Workload& w) { layer(w, 2).parameters[1].name = "norm.bias"; },
     "/networks/0/layers/2/parameters/1/name", "norm.bias"},
    {"InputOutOfRange", [](Workload& w) { layer(w, 4).inputs[1] = LayerId(99); },
     "/networks/0/layers/4/inputs/1", "layer 99, of 8"},
    {"InputThatComesLater", [](Workload& w) { layer(w, 4).inputs[1] = LayerId(5); },
     "/networks/0/layers/4/inputs/1", "does not come before it"},
    {"LayerThatReadsItself", [](Workload& w) { layer(w, 5).inputs[0] = LayerId(5); },
     "/networks/0/layers/5/inputs/0", "does not come before it"},
    {"SourceOutOfRange", [](Workload& w) { layer(w, 0).sources[0] = SourceId(2); },
     "/networks/0/layers/0/sources/0", "source 2, of 2"},
    {"DimensionOfZero", [](Workload& w) { layer(w, 1).output.dimensions[0] = 0; },
     "/networks/0/layers/1/output/dimensions/0", "is 0"},
    {"NegativeDimension", [](Workload& w) { layer(w, 2).parameters[0].dimensions[1] = -18; },
     "/networks/0/layers/2/parameters/0/dimensions/1", "is -18"},
    {"OverflowingTensor",
     [](Workload& w) {
       layer(w, 5).output.dimensions = {std::int64_t{1} << 40, std::int64_t{1} << 40};
     },
     "/networks/0/layers/5/output/dimensions/1", "2^56"},
    {"OverflowingStep", [](Workload& w) { w.global_batch = std::int64_t{1} << 60; },
     "/networks/0/layers/0", "2^56"},
    {"StatisticOfALinear",
     [](Workload& w) { layer(w, 2).parameters[1].role = ParameterRole::Statistic; },
     "/networks/0/layers/2/parameters/1/role", "is a statistic, expected trained"},
    {"SourceThatNobodyReadsOfTooManyElements",
     [](Workload& w) {
       w.sources.push_back(w.sources[0]);
       w.sources.back().name = "unread";
       w.sources.back().sample.dimensions = {std::int64_t{1} << 55};
     },
     "/sources/2/sample/dimensions", "more than 2^56 elements"},
    {"LabelWithoutAnImage",
     [](Workload& w) {
       w.sources[1] = {"label", SourceKind::Label, {DataType::Byte, {}}};
     },
     "/sources/1/kind", "the label of no image"},
    {"InfiniteDeviation", [](Workload& w) { layer(w, 2).parameters[0].deviation = HUGE_VAL; },
     "/networks/0/layers/2/parameters/0/deviation", "inf"},
    {"NoLoss", [](Workload& w) { w.networks[0].layers.pop_back(); }, "/networks/0/layers",
     "0 losses"},
    {"TwoLosses",
     [](Workload& w) {
       w.networks[0].layers.push_back(layer(w, 7));
       w.networks[0].layers.back().name = "loss 2";
     },
     "/networks/0/layers", "2 losses"},
    {"UnreadLayer",
     [](Workload& w) {
       layer(w, 4).inputs = layer_ids({0, 0});
     },
     "/networks/0/layers/3", "nothing reads layer 'attention'"},
    {"ParametersWithoutStore", [](Workload& w) { w.stores.clear(); }, "/stores", "layer 'embed'"},
    {"ParametersInTwoStores",
     [](Workload& w) {
       w.stores.push_back(w.stores[0]);
       w.stores.back().name = "again";
     },
     "/stores", "in 2 trained"},
    {"StoreOfNoNetwork", [](Workload& w) { w.stores[0].network = NetworkId(); },
     "/stores/0/network", "network -1"},
    {"StoreListsLayersTwice",
     [](Workload& w) {
       w.stores[0].layers = layer_ids({1, 1});
     },
     "/stores/0/layers/1", "ascending"},
    {"TrainedStoreThatFollows", [](Workload& w) { w.stores[0].of = StoreId(0); }, "/stores/0/of",
     "neither ema nor copy"},
    {"EndlessPhaseFirst",
     [](Workload& w) {
       w.phases.push_back({"more", 5, ""});
     },
     "/phases/0/steps", "0 steps"},
    {"NegativeLearningRate", [](Workload& w) { w.optimizer.learning_rate = -0.1; },
     "/optimizer/learning_rate", "-0.1"},
    {"MomentumOfOne", [](Workload& w) { w.optimizer.momentum = 1; }, "/optimizer/momentum", "is 1"},
    {"MomentumNotANumber", [](Workload& w) { w.optimizer.momentum = NAN; }, "/optimizer/momentum",
     "nan"},
};

class WorkloadFault : public testing::TestWithParam<Fault> {};

TEST_P(WorkloadFault, IsRefusedWithPlaceAndHint) {
  Workload workload = sample_workload();
  GetParam().make(workload);
  const auto result = validate(workload);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, WorkloadFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

const Fault kTaskFaults[] = {
    {"StoreThatFollowsItself", [](Workload& w) { w.stores[1].of = StoreId(1); }, "/stores/1/of",
     "follows itself"},
    {"DecayAboveOne", [](Workload& w) { w.stores[1].decay = 1.5; }, "/stores/1/decay", "1.5"},
    {"RefreshedNever", [](Workload& w) { w.stores[1].refresh_period = 0; },
     "/stores/1/refresh_period", "every 0"},
    {"PeriodThatDoesNotDivide", [](Workload& w) { w.tasks[0].period = 3; }, "/tasks/0/period",
     "period 3"},
    {"OffsetBeyondPeriod", [](Workload& w) { w.tasks[0].offset = 2; }, "/tasks/0/offset",
     "offset 2"},
    {"EdgeToNoTask", [](Workload& w) { w.edges[0].to = TaskId(3); }, "/edges/0/to", "task 3, of 3"},
    {"StalenessOfData", [](Workload& w) { w.edges[0].staleness = 1; }, "/edges/0/staleness",
     "staleness 1"},
    {"CircleWithinAStep",
     [](Workload& w) {
       w.edges.push_back({TaskId(1), TaskId(0), DependencyKind::Order, 0, 0});
     },
     "/edges", "circle"},
};

class TaskFault : public testing::TestWithParam<Fault> {};

TEST_P(TaskFault, IsRefusedWithPlaceAndHint) {
  Workload workload = sample_distillation();
  GetParam().make(workload);
  const auto result = validate(workload);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, TaskFault, testing::ValuesIn(kTaskFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(WorkloadValidate, AcceptsTheSamples) {
  for (const Workload& workload :
       {sample_workload(), test::sample_image_workload(), sample_distillation()}) {
    const auto result = validate(workload);
    EXPECT_TRUE(result) << result.error().text();
  }
}

TEST(WorkloadValidate, AllowsOpaqueNetworksWithoutALoss) {
  Workload workload = sample_workload();
  for (Layer& x : workload.networks[0].layers) x.kind = LayerKind::Opaque;
  EXPECT_TRUE(validate(workload));
}

}  // namespace
}  // namespace penstock
