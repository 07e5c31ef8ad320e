#include "planner/explain.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Plan two_stages() {
  Plan plan;
  plan.schedule.name = "1f1b";
  plan.microbatches = 4;
  plan.microbatch_size = 2;
  for (std::int64_t s = 0; s < 2; ++s) {
    PlanStage& stage = plan.stages.emplace_back();
    stage.layers = s == 0 ? std::vector{LayerId(0), LayerId(1)}
                          : std::vector{LayerId(2), LayerId(3), LayerId(4)};
    stage.devices = {RankId(s)};
    stage.times.forward = Nanoseconds(10'000'000 + s * 5'000'000);
    plan.devices.push_back(
        {RankId(s), DeviceId(s), Bytes(std::int64_t{1} << 30), Bytes(std::int64_t{3} << 30)});
  }
  return plan;
}

TEST(Explain, TheBindingConstraintIsTheStageWithMostWork) {
  EXPECT_EQ(binding_constraint(two_stages()),
            "stage 1 (layers 2-4): " + text(Nanoseconds(60'000'000)) +
                " of compute a step; memory leaves " + text(Bytes(std::int64_t{2} << 30)) +
                " free");
}

TEST(Explain, DescribesPlansAndLayers) {
  EXPECT_EQ(describe(two_stages()), "1f1b on 2 ranks, 4 microbatches of 2");
  EXPECT_EQ(describe_layers(4, 5), "layer 4");
  EXPECT_EQ(describe_layers(0, 3), "layers 0-2");
}

TEST(Explain, NothingFitsNamesTheStageTheBytesAndWhatWouldHelp) {
  NearestMiss miss{"gpipe", 2, 8, Bytes(4096), {1, 3, 6, Bytes(100)}};
  Error error = nothing_fits(miss, {});
  EXPECT_EQ(error.code, ErrorCode::Infeasible);
  EXPECT_NE(error.message.find("stage 1 (layers 3-5)"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("(100 bytes)"), std::string::npos) << error.message;
  EXPECT_EQ(error.hint, "try a cluster with more or larger devices");
  error = nothing_fits(miss, {.smaller_microbatches = true,
                              .more_ranks = true,
                              .one_f_one_b = true,
                              .higher_limit = true});
  EXPECT_EQ(error.hint,
            "try a smaller microbatch, or 1f1b, which keeps fewer microbatches than gpipe, or more "
            "ranks, or a higher memory limit");
}

}  // namespace
}  // namespace penstock
