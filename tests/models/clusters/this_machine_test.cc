#include "models/clusters/this_machine.h"

#include <gtest/gtest.h>

#include "models/clusters/clusters.h"
#include "models/clusters/host_info.h"

namespace penstock {
namespace {

TEST(ThisMachine, HasOneRankACoreUnlessTold) {
  EXPECT_EQ(static_cast<std::int64_t>(this_machine().devices.size()), read_host_info().cores);
  EXPECT_EQ(this_machine(7).devices.size(), 7u);
}

TEST(ThisMachine, IsValidForAnyNumberOfRanks) {
  for (const std::int32_t ranks : {0, 1, 2, 64}) {
    const auto valid = validate(this_machine(ranks));
    EXPECT_TRUE(valid) << ranks << ": " << valid.error().text();
  }
}

TEST(ThisMachine, RanksShareOneHostAndDivideItsMemory) {
  const Cluster cluster = this_machine(4);
  ASSERT_EQ(cluster.hosts.size(), 1u);
  for (const Device& device : cluster.devices) {
    EXPECT_EQ(device.kind, "cpu");
    EXPECT_EQ(device.host, HostId(0));
    EXPECT_EQ(device.memory, even_part(read_host_info().memory, 4));
  }
  EXPECT_LE(4 * cluster.devices[0].memory, read_host_info().memory);
}

TEST(ThisMachine, AnyTwoRanksHandOverByThreads) {
  const Cluster cluster = this_machine(3);
  ASSERT_EQ(cluster.links.size(), 1u);
  EXPECT_EQ(cluster.links[0].name, kThreadLink);
  const auto path = route(cluster, DeviceId(0), DeviceId(2));
  ASSERT_TRUE(path);
  EXPECT_EQ(path->time(Bytes(8000)), Nanoseconds(3000 + 1000));
  EXPECT_TRUE(this_machine(1).links.empty());
}

TEST(ThisMachine, EvenPartsAreWholeMebibytesWhereTheyCanBe) {
  EXPECT_EQ(even_part(Bytes(10 << 20), 3), Bytes(3 << 20));
  EXPECT_EQ(even_part(Bytes(1 << 20), 2), Bytes(1 << 19));
  EXPECT_EQ(even_part(Bytes(1), 2), Bytes(1));
}

}  // namespace
}  // namespace penstock
