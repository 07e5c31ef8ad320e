#include "core/cluster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/core/samples.h"

namespace penstock {
namespace {

using test::sample_cluster;

Cluster flat(std::int64_t devices) {
  Cluster out;
  out.hosts = {{"host"}};
  Link link{"net", {}, Nanoseconds(5000), BytesPerSecond(1.25e9), Sharing::None};
  for (std::int64_t i = 0; i < devices; ++i) {
    out.devices.push_back({"d" + std::to_string(i), HostId(0), "v100", Bytes(1), FlopsPerSecond(1),
                           BytesPerSecond(1)});
    link.devices.emplace_back(i);
  }
  out.links = {link};
  return out;
}

TEST(Route, ToItselfIsFree) {
  const auto path = route(sample_cluster(), DeviceId(1), DeviceId(1));
  ASSERT_TRUE(path);
  EXPECT_TRUE(path->links.empty());
  EXPECT_EQ(path->time(Bytes(1'000'000)), Nanoseconds(0));
}

TEST(Route, AddsLatenciesAndTakesTheLeastBandwidth) {
  const auto path = route(sample_cluster(), DeviceId(0), DeviceId(2));
  ASSERT_TRUE(path);
  EXPECT_EQ(path->links, (std::vector<LinkId>{LinkId(0), LinkId(1)}));
  EXPECT_EQ(path->latency, Nanoseconds(7000));
  EXPECT_EQ(path->bandwidth, BytesPerSecond(1.25e9));
  EXPECT_EQ(path->time(Bytes(1250)), Nanoseconds(8000));
}

TEST(Route, OverOneLinkTakesTheWidestThenTheLowest) {
  Cluster cluster = sample_cluster();
  Link wide = cluster.links[0];
  wide.name = "wide";
  wide.bandwidth = BytesPerSecond(50e9);
  cluster.links.push_back(wide);
  wide.name = "as wide";
  cluster.links.push_back(wide);
  EXPECT_EQ(route(cluster, DeviceId(0), DeviceId(1))->links, std::vector<LinkId>{LinkId(2)});
}

TEST(Route, WithoutLinksIsNothing) {
  Cluster cluster = sample_cluster();
  cluster.links.pop_back();
  EXPECT_FALSE(route(cluster, DeviceId(0), DeviceId(2)));
}

TEST(Route, BetweenAllNeighboursOfAThousandDevicesTakesNoTime) {
  const Cluster cluster = flat(1024);
  for (std::int64_t i = 0; i + 1 < 1024; ++i) {
    const auto path = route(cluster, DeviceId(i), DeviceId(i + 1));
    ASSERT_TRUE(path);
    ASSERT_EQ(path->links.size(), 1u);
  }
  EXPECT_TRUE(validate(cluster));
}

struct Fault {
  const char* name;
  std::function<void(Cluster&)> make;
  const char* pointer;
  const char* message;  // part of it
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

const Fault kFaults[] = {
    {"NoDevices", [](Cluster& c) { c.devices.clear(); }, "/devices", "no devices"},
    {"TwoDevicesOfOneName", [](Cluster& c) { c.devices[1].name = "a0"; }, "/devices/1/name",
     "two devices"},
    {"LinkWithoutName", [](Cluster& c) { c.links[1].name = ""; }, "/links/1/name",
     "without a name"},
    {"HostOutOfRange", [](Cluster& c) { c.devices[2].host = HostId(2); }, "/devices/2/host",
     "host 2, of 2"},
    {"NoHost", [](Cluster& c) { c.devices[0].host = HostId(); }, "/devices/0/host", "host -1"},
    {"NoKind", [](Cluster& c) { c.devices[0].kind = ""; }, "/devices/0/kind", "no kind"},
    {"NoMemory", [](Cluster& c) { c.devices[0].memory = Bytes(0); }, "/devices/0/memory",
     "0 bytes"},
    {"NegativePeak", [](Cluster& c) { c.devices[0].peak_f32 = FlopsPerSecond(-1); },
     "/devices/0/peak_f32", "-1"},
    {"InfiniteRate", [](Cluster& c) { c.devices[0].memory_bandwidth = BytesPerSecond(HUGE_VAL); },
     "/devices/0/memory_bandwidth", "inf"},
    {"LinkOfOneDevice", [](Cluster& c) { c.links[0].devices.pop_back(); }, "/links/0/devices",
     "joins 1"},
    {"LinkToNowhere", [](Cluster& c) { c.links[0].devices[1] = DeviceId(3); }, "/links/0/devices/1",
     "device 3, of 3"},
    {"LinkTwiceToOneDevice", [](Cluster& c) { c.links[0].devices[1] = DeviceId(0); },
     "/links/0/devices/1", "twice"},
    {"NegativeLatency", [](Cluster& c) { c.links[0].latency = Nanoseconds(-1); },
     "/links/0/latency", "-1 ns"},
    {"ZeroBandwidth", [](Cluster& c) { c.links[1].bandwidth = BytesPerSecond(0); },
     "/links/1/bandwidth", "0 B/s"},
    {"BandwidthNotANumber", [](Cluster& c) { c.links[1].bandwidth = BytesPerSecond(NAN); },
     "/links/1/bandwidth", "nan"},
    {"UnreachableDevice", [](Cluster& c) { c.links.pop_back(); }, "/links",
     "from device 'a0' to device 'b0'"},
};

class ClusterFault : public testing::TestWithParam<Fault> {};

TEST_P(ClusterFault, IsRefusedWithPlaceAndHint) {
  Cluster cluster = sample_cluster();
  GetParam().make(cluster);
  const auto result = validate(cluster);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::BadInput);
  EXPECT_EQ(result.error().where.pointer, GetParam().pointer) << result.error().text();
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().text();
  EXPECT_FALSE(result.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, ClusterFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ClusterValidate, AcceptsUnknownKindsAndOneDeviceAlone) {
  Cluster cluster = sample_cluster();
  for (Device& device : cluster.devices) device.kind = "a chip of next year";
  EXPECT_TRUE(validate(cluster));
  cluster.devices.resize(1);
  cluster.links.clear();
  EXPECT_TRUE(validate(cluster));
}

}  // namespace
}  // namespace penstock
