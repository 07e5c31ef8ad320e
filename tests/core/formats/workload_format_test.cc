#include "core/formats/workload_format.h"

#include <gtest/gtest.h>

#include "tests/core/formats/format_checks.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::BadFile;
using test::edited;

const auto kRead = [](const std::string& text, const char* file) {
  return read_workload(text, file);
};

TEST(WorkloadFormat, GivesBackWhatWasWritten) {
  std::vector<Workload> workloads = {test::sample_workload(), test::sample_distillation()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) workloads.push_back(test::random_workload(seed));
  for (const Workload& workload : workloads) {
    const std::string json = write_workload(workload);
    const auto from_json = read_workload(json, "w.json");
    ASSERT_TRUE(from_json) << from_json.error().text() << "\n" << json;
    EXPECT_EQ(*from_json, workload) << json;
    EXPECT_EQ(write_workload(*from_json), json);
    const std::string toml = write_workload_toml(workload);
    const auto from_toml = read_workload(toml, "w.toml");
    ASSERT_TRUE(from_toml) << from_toml.error().text() << "\n" << toml;
    EXPECT_EQ(*from_toml, workload) << toml;
    EXPECT_EQ(fingerprint(*from_toml), fingerprint(workload));
  }
}

TEST(WorkloadFormat, ReadsTheExamplesOfItsDocument) {
  const auto examples = test::examples("workload", "toml");
  EXPECT_FALSE(examples.empty());
  for (const std::string& text : examples) {
    const auto workload = read_workload(text, "example.toml");
    EXPECT_TRUE(workload) << workload.error().text();
  }
}

TEST(WorkloadFormat, TrainsEveryNetworkOfAFileWithoutStores) {
  Workload workload = test::sample_workload();
  const std::string json = write_workload(workload);
  const std::size_t begin = json.find("  \"stores\""), end = json.find('\n', json.find("]", begin));
  const auto read = read_workload(std::string(json).erase(begin, end + 1 - begin), "w.json");
  ASSERT_TRUE(read) << read.error().text();
  workload.stores[0].name = "tiny";
  EXPECT_EQ(*read, workload);
}

const BadFile kBad[] = {
    {"AnotherVersion", "workload/1", "workload/9", "/schema", "another version"},
    {"UnknownKey", "\"global_batch\": 8", "\"global_batch\": 8, \"optimiser\": {}", "/optimiser",
     "did you mean \"optimizer\"?"},
    {"MisspeltRequiredKey", "\"global_batch\"", "\"global_bach\"", "",
     "is \"global_bach\" a misspelling of it?"},
    {"NegativeBatch", "\"global_batch\": 8", "\"global_batch\": -8", "/global_batch", "is -8"},
    {"FractionalBatch", "\"global_batch\": 8", "\"global_batch\": 8.5", "/global_batch",
     "expected an integer"},
    {"OverflowingBatch", "\"global_batch\": 8", "\"global_batch\": 99999999999999999999", "",
     "99999999999999999999"},
    {"NotANumber", "\"learning_rate\": 0.1", "\"learning_rate\": NaN", "", ""},
    {"HugeNumber", "\"learning_rate\": 0.1", "\"learning_rate\": 1e999", "", ""},
    {"WrongType", "\"learning_rate\": 0.1", "\"learning_rate\": \"fast\"",
     "/optimizer/learning_rate", "expected a number"},
    {"MomentumOfAdam", "\"kind\": \"sgd\"", "\"kind\": \"adam\"",
     "/optimizer/momentum", "momentum means nothing to adam"},
    {"UnknownOptimizer", "\"kind\": \"sgd\"", "\"kind\": \"sdg\"", "/optimizer/kind",
     "did you mean \"sgd\"?"},
    {"DecayWithoutAnEnd", "\"learning_rate\": 0.1",
     "\"learning_rate\": 0.1, \"schedule\": {\"kind\": \"cosine\"}", "/optimizer/schedule",
     "steps"},
    {"SettingOfAnotherSchedule", "\"learning_rate\": 0.1",
     "\"learning_rate\": 0.1, \"schedule\": {\"final\": 0.1}", "/optimizer/schedule/final",
     "final means nothing to constant"},
    {"NegativeClip", "\"learning_rate\": 0.1", "\"learning_rate\": 0.1, \"clip\": -1",
     "/optimizer/clip", "is -1"},
    {"UnknownLayerKind", "\"kind\": \"gelu\"", "\"kind\": \"relu\"", "/networks/0/layers/5/kind",
     "did you mean \"gelu\"?"},
    {"UnknownInput", "\"inputs\": [\"residual\"]", "\"inputs\": [\"residul\"]",
     "/networks/0/layers/5/inputs/0", "did you mean 'residual'?"},
    {"InputThatComesLater", "\"inputs\": [\"residual\"]", "\"inputs\": [\"head\"]",
     "/networks/0/layers/5/inputs/0", "does not come before it"},
    {"UnknownSource", "\"sources\": [\"targets\"]", "\"sources\": [\"labels\"]",
     "/networks/0/layers/7/sources/0", "no source 'labels'"},
    {"OtherShape", "\"heads\": 2", "\"heads\": 5", "/networks/0/layers/3/attributes/heads",
     "5 heads"},
    {"StoreOfNoNetwork", "\"network\": \"tiny\"", "\"network\": \"tinny\"", "/stores/0/network",
     "did you mean 'tiny'?"},
};

class BadWorkload : public testing::TestWithParam<BadFile> {};

TEST_P(BadWorkload, IsRefusedWithPlaceAndHint) {
  const std::string json = write_workload(test::sample_workload());
  test::expect_refused(read_workload(edited(json, GetParam().from, GetParam().to), "bad.json"),
                       GetParam().pointer, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(Every, BadWorkload, testing::ValuesIn(kBad),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(WorkloadFormat, SurvivesTruncationAndDamage) {
  const std::string json = write_workload(test::sample_workload());
  test::expect_truncations_refused(json, kRead);
  test::expect_damage_survived(json, kRead);
  test::expect_truncations_survived(write_workload_toml(test::sample_workload()), kRead,
                                    write_workload);
}

}  // namespace
}  // namespace penstock
