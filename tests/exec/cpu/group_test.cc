#include "exec/cpu/group.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "exec/cpu/cpu_device.h"

namespace penstock::cpu {
namespace {

struct Members {
  explicit Members(std::size_t count, std::int64_t bytes = 1 << 16) {
    std::vector<CpuDevice*> pointers;
    for (std::size_t m = 0; m < count; ++m) {
      devices.push_back(std::make_unique<CpuDevice>(state, -1));
      arenas.push_back(*devices.back()->allocate(Bytes(bytes)));
      streams.push_back(devices.back()->create_stream("s", StreamRole::Transfer));
      pointers.push_back(devices.back().get());
    }
    group = assemble(pointers);
  }
  float* floats(std::size_t m) { return reinterpret_cast<float*>(arenas[m]); }
  bool finish() {
    bool all = true;
    for (auto& device : devices) all = device->synchronize().has_value() && all;
    return all;
  }

  std::shared_ptr<RunState> state = std::make_shared<RunState>();
  std::vector<std::byte*> arenas;
  std::vector<StreamHandle> streams;
  std::vector<std::unique_ptr<GroupCommunicator>> group;
  std::vector<std::unique_ptr<CpuDevice>> devices;
};

TEST(Group, AddsInTheOrderOfMembersAndLeavesTheSameBitsWithEach) {
  for (const std::size_t count : {1u, 2u, 3u, 5u}) {
    for (const std::int64_t n : {1, 15, 16, 17, 4096, 5001}) {
      Members members(count);
      std::vector<float> expected(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::size_t m = 0; m < count; ++m) {
          // Of very different sizes, so that another order gives other bits.
          members.floats(m)[i] = static_cast<float>(i % 7 + 1) * (m % 2 == 0 ? 1e7f : 0.3f) / static_cast<float>(m + 3);
          expected[static_cast<std::size_t>(i)] =
              m == 0 ? members.floats(0)[i] : expected[static_cast<std::size_t>(i)] + members.floats(m)[i];
        }
      }
      Stamp stamp;
      for (std::size_t m = 0; m < count; ++m) {
        members.group[m]->all_reduce(members.streams[m], members.arenas[m], Bytes(4 * n), 7, {}, m == 0 ? &stamp : nullptr);
      }
      ASSERT_TRUE(members.finish());
      for (std::size_t m = 0; m < count; ++m) {
        ASSERT_EQ(std::memcmp(members.floats(m), expected.data(), expected.size() * sizeof(float)), 0)
            << count << " members, " << n << " floats, member " << m;
        EXPECT_EQ(members.floats(m)[n], 0.0f);  // nothing beyond
      }
      EXPECT_LE(stamp.start, stamp.end);
    }
  }
}

TEST(Group, CallsFollowOneAnother) {
  Members members(2);
  for (int call = 0; call < 100; ++call) {
    for (std::size_t m = 0; m < 2; ++m) {
      if (call == 0) members.floats(m)[0] = 1;
      members.group[m]->all_reduce(members.streams[m], members.arenas[m], Bytes(4), static_cast<std::uint64_t>(call), {}, nullptr);
    }
    if (call == 20) break;
  }
  ASSERT_TRUE(members.finish());
  EXPECT_EQ(members.floats(0)[0], 2097152.0f);  // doubled 21 times
  EXPECT_EQ(members.floats(1)[0], 2097152.0f);
}

TEST(Group, NobodyIsDoneBeforeAllHaveCome) {
  Members members(3);
  for (const std::size_t m : {0u, 2u}) {
    members.group[m]->all_reduce(members.streams[m], members.arenas[m], Bytes(64), 0, {}, nullptr);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const std::size_t m : {0u, 2u}) {
    EXPECT_EQ(members.devices[m]->activity(members.streams[m]).kind, ActivityKind::WaitingForPeer);
  }
  members.group[1]->all_reduce(members.streams[1], members.arenas[1], Bytes(64), 0, {}, nullptr);
  EXPECT_TRUE(members.finish());
}

TEST(Group, AGatherGivesEachWhatTheOthersHave) {
  Members members(3);
  const std::vector<std::vector<ByteRange>> mine = {{{Bytes(0), Bytes(8)}, {Bytes(24), Bytes(4)}}, {{Bytes(8), Bytes(16)}}, {}};
  for (std::size_t m = 0; m < 3; ++m) {
    for (const ByteRange& range : mine[m]) {
      std::memset(members.arenas[m] + range.offset.value, static_cast<int>(m) + 1, static_cast<std::size_t>(range.bytes.value));
    }
    members.group[m]->gather(members.streams[m], members.arenas[m], Bytes(28), mine[m], 3, {}, nullptr);
  }
  ASSERT_TRUE(members.finish());
  for (std::size_t m = 0; m < 3; ++m) {
    for (int i = 0; i < 28; ++i) ASSERT_EQ(members.arenas[m][i], std::byte(i >= 8 && i < 24 ? 2 : 1)) << m << " " << i;
    EXPECT_EQ(members.arenas[m][28], std::byte{0});
  }
}

TEST(Group, MembersAtDifferentCallsEndTheRun) {
  Members members(2);
  members.group[0]->all_reduce(members.streams[0], members.arenas[0], Bytes(64), 1, {}, nullptr);
  members.group[1]->all_reduce(members.streams[1], members.arenas[1], Bytes(64), 2, {}, nullptr);
  EXPECT_FALSE(members.finish());
  ASSERT_TRUE(members.state->reason().has_value());
  EXPECT_EQ(members.state->reason()->code, ErrorCode::RunFailed);
  EXPECT_NE(members.state->reason()->message.find("of a group is at call"), std::string::npos);
}

}  // namespace
}  // namespace penstock::cpu
