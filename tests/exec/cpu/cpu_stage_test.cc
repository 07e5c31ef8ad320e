#include "exec/cpu/cpu_stage.h"

#include <gtest/gtest.h>

#include "exec/data_source.h"
#include "models/workloads/builders.h"

namespace penstock::cpu {
namespace {

StageRequest request_for(const Workload& workload, const DataSource& data, std::vector<LayerId> layers) {
  StageRequest request;
  request.workload = &workload;
  request.layout = lay_out_stage(workload, NetworkId(0), {layers}, {}, StageId(0), 2);
  request.layers = std::move(layers);
  request.microbatch_size = 2;
  request.data = &data;
  return request;
}

std::vector<LayerId> all_layers(const Workload& workload) {
  std::vector<LayerId> layers;
  for (std::size_t l = 0; l < workload.networks[0].layers.size(); ++l) layers.push_back(LayerId(static_cast<std::int64_t>(l)));
  return layers;
}

TEST(CpuStage, LibraryScratchIsTheLargestOfItsLayers) {
  const Workload workload = *build_workload("mlp:layers=3,width=24,batch=4");
  const DataSource data;
  const auto stage = make_cpu_stage(request_for(workload, data, all_layers(workload)));
  ASSERT_TRUE(stage) << stage.error().text();
  Bytes largest;
  for (std::size_t l = 0; l < workload.networks[0].layers.size(); ++l) largest = std::max(largest, (*stage)->layer_scratch(l));
  EXPECT_EQ((*stage)->scratch_bytes(), largest);
}

TEST(CpuStage, ALayerWithoutAKernelIsRefusedByName) {
  Workload workload = *build_workload("mlp:layers=3,width=24,batch=4");
  const DataSource data;
  StageRequest request = request_for(workload, data, all_layers(workload));
  workload.networks[0].layers[1].kind = LayerKind::Opaque;
  const auto stage = make_cpu_stage(request);
  ASSERT_FALSE(stage);
  EXPECT_EQ(stage.error().code, ErrorCode::Infeasible);
  EXPECT_NE(stage.error().message.find(workload.networks[0].layers[1].name), std::string::npos);
}

}  // namespace
}  // namespace penstock::cpu
