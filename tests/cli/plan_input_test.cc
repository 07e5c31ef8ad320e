#include "cli/plan_input.h"

#include <gtest/gtest.h>

#include "core/formats/profile_format.h"
#include "profiler/profiler.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

PlanFlags flags(std::string cluster) {
  PlanFlags out;
  out.workload = "mlp:layers=2,width=16";
  out.cluster = std::move(cluster);
  return out;
}

TEST(PlanInput, FlagsOverrideTheWorkload) {
  PlanFlags input = flags("flat:2,device=cpu");
  input.global_batch = 24;
  input.optimizer = "sgd:momentum=0";
  input.memory_limit = Bytes(1 << 20);
  const auto request = plan_request(input);
  ASSERT_TRUE(request.has_value()) << request.error().text();
  EXPECT_EQ(request->workload.global_batch, 24);
  EXPECT_EQ(request->workload.optimizer.momentum, 0);
  EXPECT_GT(request->workload.optimizer.learning_rate, 0);
  EXPECT_EQ(request->memory_limit, Bytes(1 << 20));
}

TEST(PlanInput, MoreRanksThanDevicesAreInfeasible) {
  PlanFlags input = flags("flat:2,device=cpu");
  input.ranks = 3;
  EXPECT_EQ(plan_request(input).error().code, ErrorCode::Infeasible);
  input.cluster = "this-machine";
  ASSERT_TRUE(plan_request(input).has_value());
  EXPECT_EQ(plan_request(input)->cluster.devices.size(), 3u);
}

// A profile is of the machine it was taken on: refused where the cluster is this one, let pass
// where a file describes it.
TEST(PlanInput, AProfileOfAnotherMachineIsRefusedOnThisOne) {
  const test::TempDir folder;
  Profile profile;
  profile.workload = "mlp";
  profile.device_kind = "cpu";
  profile.machine = identify_machine();
  const std::string path = (folder / "profile.json").string();
  const auto planned_with = [&](const Profile& p, const std::string& cluster) {
    test::write_file(path, write_profile(p));
    PlanFlags input = flags(cluster);
    input.profile = path;
    return plan_request(input);
  };
  EXPECT_TRUE(planned_with(profile, "this-machine").has_value());
  for (auto change : {+[](Fingerprint& f) { f.cpu = "Z80"; }, +[](Fingerprint& f) { f.cores += 1; },
                      +[](Fingerprint& f) { f.instruction_set = "mmx"; }}) {
    Profile other = profile;
    change(other.machine);
    for (const char* here : {"this-machine", "flat:2,device=cpu"}) {
      const auto request = planned_with(other, here);
      ASSERT_FALSE(request.has_value()) << here;
      EXPECT_EQ(request.error().code, ErrorCode::BadInput);
      EXPECT_NE(request.error().message.find("the profile was taken on"), std::string::npos);
    }
    EXPECT_TRUE(planned_with(other, "flat:2,device=a100-80,bandwidth=1GB/s").has_value());
  }
}

}  // namespace
}  // namespace penstock::cli
