#include "core/formats/plan_format.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/json.h"
#include "tests/core/formats/format_checks.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::BadFile;
using test::edited;

const auto kRead = [](const std::string& text, const char* file) { return read_plan(text, file); };

TEST(PlanFormat, GivesBackWhatWasWritten) {
  std::vector<Plan> plans = {test::sample_plan()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) plans.push_back(test::random_plan(seed));
  for (const Plan& plan : plans) {
    const std::string json = write_plan(plan);
    const auto read = read_plan(json, "p.json");
    ASSERT_TRUE(read) << read.error().text() << "\n" << json;
    EXPECT_EQ(*read, plan) << json;
    EXPECT_EQ(write_plan(*read), json);
  }
}

TEST(PlanFormat, ReadsTheExamplesOfItsDocument) {
  const auto examples = test::examples("plan", "json");
  EXPECT_FALSE(examples.empty());
  for (const std::string& text : examples) {
    const auto plan = read_plan(text, "example.json");
    EXPECT_TRUE(plan) << plan.error().text();
  }
}

TEST(PlanFormat, KeepsItsPromisedKeys) {
  const auto document = parse_json(write_plan(test::sample_plan()), "plan.json");
  ASSERT_TRUE(document);
  for (const char* key : {"schema", "strategy", "objective", "objective_unit", "objective_s",
                          "schedule", "microbatch_size", "microbatches", "iteration_time_s",
                          "throughput_samples_per_s", "lower_bound_s", "gap", "plan_space", "costs",
                          "stages", "devices", "binding_constraint", "runner_up"})
    EXPECT_NE(document->find(key), nullptr) << key;
  EXPECT_EQ(document->find("schedule")->string(), "1f1b");
  EXPECT_TRUE(document->find("runner_up")->is_null());
  for (const char* key : {"network", "layers", "chunk", "devices", "tensor_parallel", "replicas",
                          "split", "recompute"})
    EXPECT_NE(document->find("stages")->array()[0].find(key), nullptr) << key;
  for (const char* key : {"rank", "peak_memory_bytes", "memory_limit_bytes"})
    EXPECT_NE(document->find("devices")->array()[0].find(key), nullptr) << key;
}

TEST(PlanFormat, WritesSecondsOnlyOfObjectivesInSeconds) {
  Plan plan = test::sample_plan();
  plan.certificate.objective = "peak_memory";
  plan.certificate.objective_unit = "B";
  const auto document = parse_json(write_plan(plan), "plan.json");
  EXPECT_EQ(document->find("objective_s"), nullptr);
  EXPECT_EQ(document->find("objective_value")->real(), plan.certificate.objective_value);
}

const BadFile kBad[] = {
    {"AnotherVersion", "penstock.plan/1", "penstock.plan/2", "/schema", "another version"},
    {"AnotherFile", "penstock.plan/1", "penstock.profile/1", "/schema", "right kind of file"},
    {"UnknownKey", "\"strategy\"", "\"stratgy\": 1, \"strategy\"", "/stratgy",
     "did you mean \"strategy\"?"},
    {"WrongType", "\"gap\": 0.2", "\"gap\": \"0.2\"", "/gap", "expected a number"},
    {"NotANumber", "\"gap\": 0.2", "\"gap\": NaN", "", ""},
    {"ObjectiveThatDiffers", "\"objective_s\": 1.5e-05", "\"objective_s\": 1.6e-05", "/objective_s",
     "repeats"},
    {"LayerThatDoesNotExist", "\"layers\": [4, 5, 6, 7]", "\"layers\": [4, 5, 6, 8]",
     "/stages/1/layers/3", "its layers are 0 to 7"},
    {"NegativeLayer", "\"layers\": [4, 5, 6, 7]", "\"layers\": [-4, 5, 6, 7]", "/stages/1/layers/0",
     "-4"},
    {"OverflowingLayer", "\"layers\": [4, 5, 6, 7]", "\"layers\": [4, 5, 6, 4294967296]",
     "/stages/1/layers/3", "4294967296"},
    {"LayerTwice", "\"layers\": [4, 5, 6, 7]", "\"layers\": [3, 4, 5, 6, 7]", "/stages/1/layers/0",
     "stages 0 and 1"},
    {"LayerMissing", "\"layers\": [4, 5, 6, 7]", "\"layers\": [4, 5, 7]", "/stages", "'head'"},
    {"MicrobatchesThatDoNotDivide", "\"microbatch_size\": 2", "\"microbatch_size\": 3",
     "/microbatches", "global_batch"},
    {"UnknownPolicy", "\"weight_policy\": \"flush\"", "\"weight_policy\": \"flash\"",
     "/weight_policy", "did you mean \"flush\"?"},
    {"NegativeTime", "\"loss_ns\": 1", "\"loss_ns\": -1", "/stages/1/times", "-1 ns"},
    {"RankOfNoStage", "\"devices\": [1]", "\"devices\": [2]", "/stages/1/devices/0",
     "rank 2, of 2"},
    {"BadCluster", "\"bandwidth\": 1250000000.0", "\"bandwidth\": 0", "/cluster/links/1/bandwidth",
     "above zero"},
    {"UnreachableDevice", "[\"a1\", \"b0\"]", "[\"a1\", \"a0\"]", "/cluster/links", "'b0'"},
    {"BadWorkload", "\"heads\": 2", "\"heads\": 4",
     "/workload/networks/0/layers/3/attributes/heads", "4 heads"},
};

class BadPlan : public testing::TestWithParam<BadFile> {};

TEST_P(BadPlan, IsRefusedWithPlaceAndHint) {
  const std::string json = write_plan(test::sample_plan());
  test::expect_refused(read_plan(edited(json, GetParam().from, GetParam().to), "bad.json"),
                       GetParam().pointer, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(Every, BadPlan, testing::ValuesIn(kBad),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(PlanFormat, RefusesEmptyText) {
  const auto result = read_plan("", "empty.json");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.file, "empty.json");
}

TEST(PlanFormat, OfAMissingFileSaysWhich) {
  const auto text = read_file("no/such/plan.json");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::BadInput);
  EXPECT_NE(text.error().text().find("no/such/plan.json"), std::string::npos)
      << text.error().text();
}

TEST(PlanFormat, SurvivesTruncationAndDamage) {
  const std::string json = write_plan(test::sample_plan());
  test::expect_truncations_refused(json, kRead);
  test::expect_damage_survived(json, kRead);
}

}  // namespace
}  // namespace penstock
