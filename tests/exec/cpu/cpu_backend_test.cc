#include "exec/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/cpu/processor.h"

namespace penstock::cpu {
namespace {

// Devices with a little memory and a stream each.
struct Ranks {
  explicit Ranks(std::int32_t count) {
    for (std::int32_t r = 0; r < count; ++r) {
      devices.push_back(*backend->rank_device(r, count));
      arenas.push_back(*devices.back()->allocate(Bytes(256)));
      streams.push_back(devices.back()->create_stream("stream", StreamRole::Compute));
    }
  }
  std::unique_ptr<Backend> backend = make_cpu_backend();
  std::vector<std::unique_ptr<RankDevice>> devices;
  std::vector<std::byte*> arenas;
  std::vector<StreamHandle> streams;
};

TEST(CpuBackend, JoinsItsDevicesByEdgesAndGroups) {
  Ranks ranks(2);
  const CommunicatorPair edge = ranks.backend->connect(*ranks.devices[0], *ranks.devices[1]);
  const std::vector<float> ones(16, 1.0f);
  ranks.devices[0]->write(ranks.arenas[0], ones.data(), Bytes(64));
  edge.sender->send(ranks.streams[0], ranks.arenas[0], Bytes(64), 7, {}, nullptr);
  edge.receiver->receive(ranks.streams[1], ranks.arenas[1], Bytes(64), 7, {}, nullptr);
  const std::vector<RankDevice*> members = {ranks.devices[0].get(), ranks.devices[1].get()};
  const auto group = ranks.backend->assemble(members);
  ASSERT_EQ(group.size(), 2u);
  for (std::size_t r = 0; r < 2; ++r) group[r]->all_reduce(ranks.streams[r], ranks.arenas[r], Bytes(64), 1, {}, nullptr);
  for (std::size_t r = 0; r < 2; ++r) {
    ASSERT_TRUE(ranks.devices[r]->synchronize());
    std::vector<float> sum(16);
    ranks.devices[r]->read(sum.data(), ranks.arenas[r], Bytes(64));
    EXPECT_EQ(sum, std::vector<float>(16, 2.0f));
  }
}

TEST(CpuBackend, MoreRanksThanCoresAreNotRefused) {
  Ranks ranks(core_count() + 1);
  for (const auto& device : ranks.devices) EXPECT_TRUE(device->synchronize());
}

TEST(CpuBackend, WhatOneDeviceGivesUpAllDo) {
  Ranks ranks(2);
  EXPECT_FALSE(ranks.backend->reason());
  ranks.devices[0]->abort(Error{.code = ErrorCode::RunFailed, .message = "enough"});
  ranks.backend->abort(Error{.code = ErrorCode::RunFailed, .message = "later"});
  ASSERT_TRUE(ranks.backend->reason());
  EXPECT_EQ(ranks.backend->reason()->message, "enough");
  EXPECT_FALSE(ranks.devices[1]->synchronize());
}

TEST(CpuBackend, DevicesOutliveIt) {
  std::unique_ptr<RankDevice> device;
  {
    const std::unique_ptr<Backend> backend = make_cpu_backend();
    const Nanoseconds now = backend->now();
    EXPECT_LE(now, backend->now());
    device = *backend->lone_device();
  }
  device->create_stream("stream", StreamRole::Compute);
  EXPECT_TRUE(device->synchronize());
}

}  // namespace
}  // namespace penstock::cpu
