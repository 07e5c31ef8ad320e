#include <gtest/gtest.h>

#include <string>

#include "models/clusters/clusters.h"
#include "models/clusters/host_info.h"
#include "models/clusters/this_machine.h"

namespace penstock {
namespace {

Cluster make(const std::string& text) {
  auto cluster = inline_cluster(text);
  EXPECT_TRUE(cluster) << text << ": " << cluster.error().text();
  const auto valid = validate(*cluster);
  EXPECT_TRUE(valid) << text << ": " << valid.error().text();
  return *cluster;
}

Error error_of(const std::string& text) {
  auto cluster = inline_cluster(text);
  EXPECT_FALSE(cluster) << text;
  return cluster ? Error{} : cluster.error();
}

Nanoseconds transfer(const Cluster& cluster, int from, int to, std::int64_t bytes) {
  const auto path = route(cluster, DeviceId(from), DeviceId(to));
  EXPECT_TRUE(path);
  return path->time(Bytes(bytes));
}

TEST(Flat, AnyTwoDevicesAreOneLinkApart) {
  const Cluster cluster = make("flat:16,bandwidth=1.25GB/s,latency=5us,memory=16GiB,device=v100");
  ASSERT_EQ(cluster.devices.size(), 16u);
  ASSERT_EQ(cluster.links.size(), 1u);
  EXPECT_EQ(cluster.links[0].devices.size(), 16u);
  EXPECT_EQ(cluster.devices[15].kind, "v100");
  EXPECT_EQ(cluster.devices[15].memory, Bytes(std::int64_t{16} << 30));
  EXPECT_NE(cluster.devices[0].host, cluster.devices[15].host);
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(3, 15), std::pair(15, 0)}) {
    EXPECT_EQ(transfer(cluster, from, to, 1'250'000), Nanoseconds(5'000 + 1'000'000));
  }
  EXPECT_EQ(transfer(cluster, 4, 4, 1'250'000), Nanoseconds(0));
}

TEST(Flat, LatencyDefaultsToZeroAndMemoryToTheKinds) {
  const Cluster cluster = make("flat:2,device=h100,bandwidth=1GB/s");
  EXPECT_EQ(transfer(cluster, 0, 1, 1000), Nanoseconds(1000));
  EXPECT_EQ(cluster.devices[0].memory, Bytes(std::int64_t{80} << 30));
}

TEST(Flat, OfCpusIsThisMachine) {
  const Cluster cluster = make("flat:4,device=cpu");
  EXPECT_EQ(cluster.hosts.size(), 1u);
  EXPECT_EQ(cluster.devices[3].memory, even_part(read_host_info().memory, 4));
  EXPECT_EQ(cluster.links[0].name, kThreadLink);
  EXPECT_EQ(make("flat:4").devices, cluster.devices);
}

TEST(Flat, WhatIsSaidOfALinkBetweenCpusStands) {
  const Cluster cluster = make("flat:4,device=cpu,bandwidth=1GB/s,latency=1ms");
  EXPECT_NE(cluster.links[0].name, kThreadLink);
  EXPECT_EQ(transfer(cluster, 0, 3, 1000), Nanoseconds(1'001'000));
  EXPECT_NE(error_of("flat:4,latency=1ms").message.find("bandwidth is missing"), std::string::npos);
}

TEST(Flat, OneDeviceNeedsNoLink) {
  const Cluster cluster = make("flat:1,device=v100");
  EXPECT_TRUE(cluster.links.empty());
  EXPECT_EQ(transfer(cluster, 0, 0, 1000), Nanoseconds(0));
}

TEST(Nodes, HaveOneLinkAHostAndOneBetweenHosts) {
  const Cluster cluster =
      make("nodes:128x8,device=a100-80,intra=300GB/s,inter=200GB/s,inter-latency=10us");
  EXPECT_EQ(cluster.hosts.size(), 128u);
  EXPECT_EQ(cluster.devices.size(), 1024u);
  EXPECT_EQ(cluster.links.size(), 129u);
  EXPECT_EQ(cluster.devices[8].host, HostId(1));
  EXPECT_EQ(transfer(cluster, 8, 15, 300'000), Nanoseconds(1'000));
  EXPECT_EQ(transfer(cluster, 7, 8, 200'000), Nanoseconds(11'000));
  EXPECT_EQ(transfer(cluster, 0, 1023, 200'000), Nanoseconds(11'000));
  EXPECT_EQ(route(cluster, DeviceId(8), DeviceId(15))->links, std::vector<LinkId>{LinkId(1)});
}

TEST(Nodes, AskOnlyForTheLinksTheyHave) {
  EXPECT_EQ(make("nodes:1x4,device=v100,intra=100GB/s").links.size(), 1u);
  EXPECT_EQ(make("nodes:4x1,device=v100,inter=100GB/s").links.size(), 1u);
  EXPECT_NE(error_of("nodes:2x2,device=v100,intra=1GB/s").message.find("inter is missing"),
            std::string::npos);
  EXPECT_NE(error_of("nodes:2x2,device=v100,inter=1GB/s").message.find("intra is missing"),
            std::string::npos);
}

TEST(Nodes, CpusOfAHostDivideThisMachinesMemory) {
  const Cluster cluster = make("nodes:2x4,intra=1GB/s,inter=1GB/s");
  EXPECT_EQ(cluster.devices[0].memory, even_part(read_host_info().memory, 4));
}

TEST(Inline, MisspeltKeysNameTheNearest) {
  const Error flat = error_of("flat:4,bandwith=1GB/s");
  EXPECT_EQ(flat.code, ErrorCode::Usage);
  EXPECT_NE(flat.hint.find("did you mean bandwidth?"), std::string::npos) << flat.hint;
  const Error nodes = error_of("nodes:2x2,intra=1GB/s,inter=1GB/s,intra_latency=5us");
  EXPECT_NE(nodes.hint.find("did you mean intra-latency?"), std::string::npos) << nodes.hint;
}

TEST(Inline, WhatMakesNoSenseIsAUsageError) {
  for (const char* text : {"flat",
                           "flat:",
                           "flat:0,bandwidth=1GB/s",
                           "flat:x,bandwidth=1GB/s",
                           "flat:-2",
                           "flat:2.5",
                           "flat:99999999",
                           "flat:2,device=v100",
                           "flat:2,bandwidth=fast",
                           "flat:2,bandwidth=0",
                           "flat:2,bandwidth=-1GB/s",
                           "flat:2,bandwidth=1GB",
                           "flat:2,bandwidth=1GB/s,memory=0",
                           "flat:2,device=abacus",
                           "flat:bandwidth=1GB/s",
                           "nodes:4,intra=1GB/s",
                           "nodes:0x4,intra=1GB/s",
                           "nodes:2x0,inter=1GB/s",
                           "nodes:x",
                           "nodes:300x300,intra=1GB/s,inter=1GB/s",
                           "nodes:1x2x3,intra=1GB/s"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::Usage) << text;
  }
}

TEST(Inline, UnitErrorsNameTheirKey) {
  const Error error = error_of("flat:2,bandwidth=1GBps");
  EXPECT_NE(error.message.find("bandwidth"), std::string::npos) << error.message;
}

TEST(Inline, SameTextSameCluster) {
  EXPECT_EQ(make("nodes:2x2,intra=1GB/s,inter=1GB/s"), make("nodes:2x2,intra=1GB/s,inter=1GB/s"));
}

}  // namespace
}  // namespace penstock
