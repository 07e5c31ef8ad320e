#include "exec/cpu/cpu_device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace penstock::cpu {
namespace {

struct Rank {
  explicit Rank(const std::shared_ptr<RunState>& state) : device(state, -1) {
    arena = *device.allocate(Bytes(4096));
    stream = device.create_stream("stream", StreamRole::Compute);
  }
  CpuDevice device;
  std::byte* arena;
  StreamHandle stream;
};

struct Pair {
  std::shared_ptr<RunState> state = std::make_shared<RunState>();
  Rank a{state}, b{state};
  CommunicatorPair edge = connect(a.device, b.device);
};

TEST(CpuDevice, TheArenaIsZeroedAndAligned) {
  Rank rank(std::make_shared<RunState>());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rank.arena) % kTensorAlignment, 0u);
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(rank.arena[i], std::byte{0});
}

TEST(CpuDevice, MoreMemoryThanThereIsIsUnavailable) {
  CpuDevice device(std::make_shared<RunState>(), -1);
  const auto arena = device.allocate(Bytes(std::int64_t{1} << 60));
  ASSERT_FALSE(arena);
  EXPECT_EQ(arena.error().code, ErrorCode::Unavailable);
}

TEST(ThreadCommunicator, MovesMessagesInOrder) {
  Pair pair;
  for (std::uint8_t i = 0; i < 8; ++i) {
    pair.a.arena[i * 64] = std::byte{i};
    pair.edge.sender->send(pair.a.stream, pair.a.arena + i * 64, Bytes(64), i, {}, nullptr);
    pair.edge.receiver->receive(pair.b.stream, pair.b.arena + i * 64, Bytes(64), i, {}, nullptr);
  }
  ASSERT_TRUE(pair.a.device.synchronize());
  ASSERT_TRUE(pair.b.device.synchronize());
  EXPECT_EQ(std::memcmp(pair.a.arena, pair.b.arena, 8 * 64), 0);
}

TEST(ThreadCommunicator, ASendIsNotOverUntilItsReceive) {
  // However small the message: nothing is buffered.
  Pair pair;
  pair.edge.sender->send(pair.a.stream, pair.a.arena, Bytes(1), 0, {}, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(pair.a.device.activity(pair.a.stream).kind, ActivityKind::WaitingForPeer);
  pair.edge.receiver->receive(pair.b.stream, pair.b.arena, Bytes(1), 0, {}, nullptr);
  EXPECT_TRUE(pair.a.device.synchronize());
}

TEST(ThreadCommunicator, AnUnexpectedMessageFailsTheRun) {
  Pair pair;
  pair.edge.sender->send(pair.a.stream, pair.a.arena, Bytes(64), 1, {}, nullptr);
  pair.edge.receiver->receive(pair.b.stream, pair.b.arena, Bytes(64), 2, {}, nullptr);
  const auto result = pair.b.device.synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::RunFailed);
  EXPECT_FALSE(pair.a.device.synchronize());
}

TEST(ThreadCommunicator, AMessageOfAnotherSizeFailsTheRun) {
  Pair pair;
  pair.edge.sender->send(pair.a.stream, pair.a.arena, Bytes(64), 1, {}, nullptr);
  pair.edge.receiver->receive(pair.b.stream, pair.b.arena, Bytes(128), 1, {}, nullptr);
  EXPECT_FALSE(pair.b.device.synchronize());
}

TEST(CpuDevice, AbortEndsAWaitThatNobodyWouldEnd) {
  Pair pair;
  pair.edge.receiver->receive(pair.b.stream, pair.b.arena, Bytes(64), 0, {}, nullptr);
  pair.b.device.abort(Error{.code = ErrorCode::RunFailed, .message = "given up"});
  const auto result = pair.b.device.synchronize();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "given up");
}

TEST(CpuDevice, EventsOrderWorkAcrossStreams) {
  // b's stream receives what a sends only after a's second stream has done its part.
  Pair pair;
  const StreamHandle second = pair.a.device.create_stream("second", StreamRole::Transfer);
  const EventHandle event = pair.a.device.create_event();
  CommunicatorPair inner = connect(pair.a.device, pair.a.device);
  pair.a.arena[0] = std::byte{42};
  inner.receiver->receive(pair.a.stream, pair.a.arena + 1024, Bytes(64), 0, {}, nullptr);  // copies 42 when the sender comes
  pair.a.device.record(pair.a.stream, event);
  pair.a.device.wait(second, event, {});
  pair.edge.sender->send(second, pair.a.arena + 1024, Bytes(64), 0, {}, nullptr);
  pair.edge.receiver->receive(pair.b.stream, pair.b.arena, Bytes(64), 0, {}, nullptr);
  const StreamHandle third = pair.a.device.create_stream("third", StreamRole::Transfer);
  inner.sender->send(third, pair.a.arena, Bytes(64), 0, {}, nullptr);
  ASSERT_TRUE(pair.a.device.synchronize());
  ASSERT_TRUE(pair.b.device.synchronize());
  EXPECT_EQ(pair.b.arena[0], std::byte{42});
}

}  // namespace
}  // namespace penstock::cpu
