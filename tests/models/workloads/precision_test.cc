#include "models/workloads/precision.h"

#include <gtest/gtest.h>

#include "models/workloads/builders.h"

namespace penstock {
namespace {

TEST(Precision, HalvesWhatLayersHandOnButNoLossAndNoParameter) {
  for (const char* text : {"gpt:layers=1,hidden=16,heads=2,sequence=8", "resnet:width=4,size=8", "unet:width=4,size=8"}) {
    const Workload f32 = *build_workload(text);
    Workload bf16 = f32;
    set_precision(bf16, Precision::BF16);
    EXPECT_TRUE(validate(bf16).has_value());
    for (std::size_t l = 0; l < f32.networks[0].layers.size(); ++l) {
      const Layer &before = f32.networks[0].layers[l], &after = bf16.networks[0].layers[l];
      EXPECT_EQ(after.parameters, before.parameters);
      EXPECT_EQ(after.output.bytes().value * (after.is_loss() ? 1 : 2), before.output.bytes().value) << after.name;
    }
    EXPECT_NE(cost_fingerprint(bf16), cost_fingerprint(f32));
    set_precision(bf16, Precision::F32);
    EXPECT_EQ(bf16, f32);
  }
}

}  // namespace
}  // namespace penstock
