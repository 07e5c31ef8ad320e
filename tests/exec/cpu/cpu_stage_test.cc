#include "exec/cpu/cpu_stage.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "exec/cpu/layer_kernel.h"
#include "exec/data_source.h"
#include "models/costs/bytes.h"
#include "models/workloads/builders.h"
#include "models/workloads/precision.h"

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

TEST(CpuStage, DerivedScratchIsNeverBelowWhatTheKernelsNeed) {
  for (const std::int64_t hidden : {16, 48, 96, 256}) {
    for (const std::int64_t sequence : {8, 40, 128}) {
      for (const std::int64_t microbatch : {1, 2, 4, 8}) {
        Workload workload = *build_workload(fmt::format("gpt:layers=1,hidden={},heads=2,sequence={}", hidden, sequence));
        if (hidden % 32 == 0) set_precision(workload, Precision::BF16);
        const Network& network = workload.networks[0];
        for (const Layer& layer : network.layers) {
          std::vector<TensorShape> inputs;
          for (const LayerId input : layer.inputs) inputs.push_back(network.layers[input.index()].output);
          const auto kernel = make_kernel(layer, inputs, microbatch, 1);
          ASSERT_TRUE(kernel) << kernel.error().text();
          EXPECT_LE((*kernel)->workspace_bytes(), scratch_estimate(layer, inputs, microbatch))
              << signature(workload, network, LayerId(&layer - network.layers.data())) << " at microbatch " << microbatch;
        }
      }
    }
  }
}

TEST(CpuStage, DerivedScratchOfImageLayersIsNeverBelowWhatTheKernelsNeed) {
  std::vector<std::string> workloads;
  for (const int width : {1, 3, 16, 24}) {
    for (const int size : {4, 9, 32}) {
      workloads.push_back(fmt::format("resnet:width={},size={},channels={}", width, size, width == 3 ? 1 : 3));
      workloads.push_back(fmt::format("unet:width={},size={}", width, size + size % 4 * 3));
    }
  }
  for (const std::string& text : workloads) {
    for (const std::int64_t microbatch : {1, 4}) {
      Workload workload = *build_workload(text);
      if (microbatch == 4) set_precision(workload, Precision::BF16);
      const Network& network = workload.networks[0];
      for (const Layer& layer : network.layers) {
        std::vector<TensorShape> inputs;
        for (const LayerId input : layer.inputs) inputs.push_back(network.layers[input.index()].output);
        const auto kernel = make_kernel(layer, inputs, microbatch, 1);
        ASSERT_TRUE(kernel) << text << ": " << kernel.error().text();
        EXPECT_LE((*kernel)->workspace_bytes(), scratch_estimate(layer, inputs, microbatch))
            << text << ": " << signature(workload, network, LayerId(&layer - network.layers.data())) << " at microbatch " << microbatch;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::cpu
