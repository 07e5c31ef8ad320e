#include <algorithm>
#include <memory>
#include <vector>

#include "exec/cpu/cpu_device.h"
#include "exec/cpu/processor.h"
#include "profiler/profiler.h"
#include "profiler/robust_stats.h"

// One way of a hand-off is half of a round trip between two ranks that do nothing else: what a message costs from the end of
// the operation that made it to the moment its reader may start, thread wake-ups and the copy included.

namespace penstock {
namespace {

constexpr int kRounds = 60;
constexpr int kWarmups = 10;

struct Rank {
  explicit Rank(const std::shared_ptr<cpu::RunState>& state, int core) : device(state, core) {}

  cpu::CpuDevice device;
  std::byte* arena = nullptr;
  StreamHandle compute, transfer;
  EventHandle produced;
  std::unique_ptr<Communicator> out, in;

  Result<void> set_up(Bytes bytes) {
    PENSTOCK_TRY(arena, device.allocate(bytes * 2));
    compute = device.create_stream("compute", StreamRole::Compute);
    transfer = device.create_stream("transfer", StreamRole::Transfer);
    produced = device.create_event();
    return {};
  }
  // As a program does it: the transfer stream waits for what the compute stream has done so far.
  void send(Bytes bytes) {
    device.record(compute, produced);
    device.wait(transfer, produced, WorkTag{});
    out->send(transfer, arena, bytes, 0, WorkTag{}, nullptr);
  }
  void receive(Bytes bytes, Stamp* stamp) { in->receive(compute, arena + bytes.value, bytes, 0, WorkTag{}, stamp); }
};

struct Pair {
  Pair(const std::shared_ptr<cpu::RunState>& state, int core, int other) : a(state, core), b(state, other) {}

  Rank a, b;
  std::vector<Stamp> received = std::vector<Stamp>(static_cast<std::size_t>(kRounds + kWarmups));

  Result<void> set_up(Bytes bytes) {
    PENSTOCK_TRY_VOID(a.set_up(bytes));
    PENSTOCK_TRY_VOID(b.set_up(bytes));
    CommunicatorPair there = cpu::connect(a.device, b.device), back = cpu::connect(b.device, a.device);
    a.out = std::move(there.sender);
    b.in = std::move(there.receiver);
    b.out = std::move(back.sender);
    a.in = std::move(back.receiver);
    return {};
  }
  // There and back; or both at once, each rank sending what it has before it takes what the other has.
  void round(Bytes bytes, Traffic traffic, Stamp& stamp) {
    a.send(bytes);
    if (traffic == Traffic::BothWays) b.send(bytes);
    b.receive(bytes, nullptr);
    if (traffic == Traffic::OneWay) b.send(bytes);
    a.receive(bytes, &stamp);
  }
};

// Of one message of each pair, pairs on cores of their own as far as there are.
Result<Spread> hand_off(Bytes bytes, Traffic traffic, std::int32_t pairs) {
  auto state = std::make_shared<cpu::RunState>();
  const std::vector<int> cores = cpu::cores();
  std::vector<std::unique_ptr<Pair>> all;
  for (std::size_t p = 0; p < static_cast<std::size_t>(pairs); ++p) {
    all.push_back(std::make_unique<Pair>(state, cores[2 * p % cores.size()], cores[(2 * p + 1) % cores.size()]));
    PENSTOCK_TRY_VOID(all.back()->set_up(bytes));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(kRounds + kWarmups); ++i)
    for (const auto& pair : all) pair->round(bytes, traffic, pair->received[i]);
  std::vector<Nanoseconds> sample;
  for (const auto& pair : all) {
    PENSTOCK_TRY_VOID(pair->a.device.synchronize());
    PENSTOCK_TRY_VOID(pair->b.device.synchronize());
    const std::int64_t messages = traffic == Traffic::OneWay ? 2 : 1;  // one after the other, in a round
    for (std::size_t i = kWarmups; i < pair->received.size(); ++i)
      sample.push_back(Nanoseconds((pair->received[i].end - pair->received[i - 1].end).value / messages));
  }
  return spread(std::move(sample));
}

}  // namespace

Result<void> profile_links(const ProfileRequest& request, Profile& profile) {
  const std::int32_t most_pairs = std::max(1, cpu::core_count() / 2);
  for (std::int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    if (request.stop.stop_requested()) return fail(ErrorCode::Interrupted, "profiling was stopped");
    for (const Traffic traffic : {Traffic::OneWay, Traffic::BothWays})
      for (std::int32_t pairs = 1; pairs <= most_pairs; ++pairs) {
        if (!request.link_traffic && (traffic != Traffic::OneWay || pairs > 1)) continue;
        PENSTOCK_TRY(const Spread time, hand_off(Bytes(bytes), traffic, pairs));
        profile.links.push_back(LinkTime{.path = "thread", .bytes = Bytes(bytes), .time = time, .traffic = traffic, .pairs = pairs});
      }
  }
  return {};
}

}  // namespace penstock
