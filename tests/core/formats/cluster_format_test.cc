#include "core/formats/cluster_format.h"

#include <gtest/gtest.h>

#include "tests/core/formats/format_checks.h"
#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::BadFile;
using test::edited;

const auto kRead = [](const std::string& text, const char* file) {
  return read_cluster(text, file);
};

constexpr const char* kToml = R"(schema = "penstock.cluster/1"
name = "pair"
hosts = [{ name = "box" }]

[[devices]]
name = "left"
host = "box"
kind = "v100"
memory = "16GiB"
peak_f32 = "15.7TFLOP/s"
memory_bandwidth = "900GB/s"

[[devices]]
name = "right"
host = "box"
kind = "v100"
memory = 17179869184
peak_f32 = 15.7e12
memory_bandwidth = 9e11

[[links]]
name = "cable"
devices = ["left", "right"]
latency = "5us"
bandwidth = "1.25GB/s"
sharing = "shared"
)";

TEST(ClusterFormat, ReadsUnitsAndBareNumbersAlike) {
  const auto cluster = read_cluster(kToml, "pair.toml");
  ASSERT_TRUE(cluster) << cluster.error().text();
  EXPECT_EQ(cluster->devices[0].memory, cluster->devices[1].memory);
  EXPECT_EQ(cluster->devices[0].peak_f32, cluster->devices[1].peak_f32);
  EXPECT_EQ(cluster->devices[0].memory_bandwidth, cluster->devices[1].memory_bandwidth);
  EXPECT_EQ(cluster->links[0].latency, Nanoseconds(5000));
  EXPECT_EQ(cluster->links[0].sharing, Sharing::Shared);
  EXPECT_EQ(cluster->links[0].devices, (std::vector<DeviceId>{DeviceId(0), DeviceId(1)}));
}

TEST(ClusterFormat, GivesBackWhatWasWritten) {
  std::vector<Cluster> clusters = {test::sample_cluster()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) clusters.push_back(test::random_cluster(seed));
  for (const Cluster& cluster : clusters) {
    const std::string json = write_cluster(cluster);
    const auto from_json = read_cluster(json, "c.json");
    ASSERT_TRUE(from_json) << from_json.error().text() << "\n" << json;
    EXPECT_EQ(*from_json, cluster) << json;
    EXPECT_EQ(write_cluster(*from_json), json);
    const std::string toml = write_cluster_toml(cluster);
    const auto from_toml = read_cluster(toml, "c.toml");
    ASSERT_TRUE(from_toml) << from_toml.error().text() << "\n" << toml;
    EXPECT_EQ(*from_toml, cluster) << toml;
  }
}

TEST(ClusterFormat, ReadsTheExamplesOfItsDocument) {
  for (const char* language : {"toml", "json"}) {
    const auto examples = test::examples("cluster", language);
    EXPECT_FALSE(examples.empty());
    for (const std::string& text : examples) {
      const auto cluster = read_cluster(text, std::string("example.") + language);
      EXPECT_TRUE(cluster) << cluster.error().text();
    }
  }
}

const BadFile kBad[] = {
    {"AnotherVersion", "cluster/1", "cluster/2", "/schema", "another version"},
    {"AnotherKind", "penstock.cluster/1", "penstock.plan/1", "/schema", "penstock.cluster/1"},
    {"UnknownKey", "sharing =", "shering =", "/links/0/shering", "did you mean \"sharing\"?"},
    {"MissingKey", "bandwidth = \"1.25GB/s\"\n", "", "/links/0", "missing key \"bandwidth\""},
    {"WrongType", "kind = \"v100\"\nmemory = \"", "kind = 100\nmemory = \"", "/devices/0/kind",
     "expected a string"},
    {"UnknownName", "\"shared\"", "\"shred\"", "/links/0/sharing", "did you mean \"shared\"?"},
    {"UnknownHost", "name = \"box\"", "name = \"boxes\"", "/devices/0/host",
     "did you mean 'boxes'?"},
    {"UnknownDevice", "\"right\"]", "\"rihgt\"]", "/links/0/devices/1", "did you mean 'right'?"},
    {"UnitMissing", "\"5us\"", "\"5\"", "/links/0/latency", "lacks its unit"},
    {"NegativeLatency", "\"5us\"", "-5", "/links/0/latency", "-5 ns"},
    {"NegativeLatencyWithUnit", "\"5us\"", "\"-5us\"", "/links/0/latency", "negative"},
    {"NotANumber", "9e11", "nan", "", "not finite"},
    {"OverflowingNumber", "17179869184", "99999999999999999999", "", "99999999999999999999"},
    {"OverflowingQuantity", "\"16GiB\"", "\"1e30GiB\"", "/devices/0/memory", "too large"},
    {"ZeroBandwidth", "\"1.25GB/s\"", "0", "/links/0/bandwidth", "above zero"},
    {"ZeroMemory", "17179869184", "0", "/devices/1/memory", "0 bytes"},
};

class BadCluster : public testing::TestWithParam<BadFile> {};

TEST_P(BadCluster, IsRefusedWithPlaceAndHint) {
  test::expect_refused(read_cluster(edited(kToml, GetParam().from, GetParam().to), "bad.toml"),
                       GetParam().pointer, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(Every, BadCluster, testing::ValuesIn(kBad),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ClusterFormat, RefusesAClusterWithoutDevices) {
  test::expect_refused(read_cluster(R"({"name": "none", "hosts": [], "devices": []})", "none.json"),
                       "/devices", "no devices");
}

TEST(ClusterFormat, RefusesDevicesThatNoLinkReaches) {
  const std::string text = kToml;
  test::expect_refused(read_cluster(text.substr(0, text.find("[[links]]")), "apart.toml"), "/links",
                       "from device 'left' to device 'right'");
}

TEST(ClusterFormat, AcceptsKindsThatNobodyKnows) {
  EXPECT_TRUE(read_cluster(
      edited(kToml, "kind = \"v100\"\nmemory = 1", "kind = \"x9\"\nmemory = 1"), "new.toml"));
}

TEST(ClusterFormat, SurvivesTruncationAndDamage) {
  const std::string json = write_cluster(test::sample_cluster());
  test::expect_truncations_refused(json, kRead);
  test::expect_damage_survived(json, kRead);
  test::expect_truncations_survived(kToml, kRead, write_cluster);
}

}  // namespace
}  // namespace penstock
