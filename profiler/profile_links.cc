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

Result<Spread> one_way(Bytes bytes) {
  auto state = std::make_shared<cpu::RunState>();
  const std::vector<int> cores = cpu::cores();
  Rank a(state, cores.front()), b(state, cores[cores.size() > 1 ? 1 : 0]);
  PENSTOCK_TRY_VOID(a.set_up(bytes));
  PENSTOCK_TRY_VOID(b.set_up(bytes));
  cpu::CommunicatorPair there = cpu::connect(a.device, b.device), back = cpu::connect(b.device, a.device);
  a.out = std::move(there.sender);
  b.in = std::move(there.receiver);
  b.out = std::move(back.sender);
  a.in = std::move(back.receiver);
  std::vector<Stamp> received(static_cast<std::size_t>(kRounds + kWarmups));
  for (Stamp& stamp : received) {
    a.send(bytes);
    b.receive(bytes, nullptr);
    b.send(bytes);
    a.receive(bytes, &stamp);
  }
  PENSTOCK_TRY_VOID(a.device.synchronize());
  PENSTOCK_TRY_VOID(b.device.synchronize());
  std::vector<Nanoseconds> sample;
  for (std::size_t i = kWarmups; i < received.size(); ++i) {
    sample.push_back(Nanoseconds((received[i].end - received[i - 1].end).value / 2));
  }
  return spread(std::move(sample));
}

}  // namespace

Result<void> profile_links(const ProfileRequest& request, Profile& profile) {
  for (std::int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    if (request.stop.stop_requested()) return fail(ErrorCode::Interrupted, "profiling was stopped");
    PENSTOCK_TRY(const Spread time, one_way(Bytes(bytes)));
    profile.links.push_back(LinkTime{.path = "thread", .bytes = Bytes(bytes), .time = time});
  }
  return {};
}

}  // namespace penstock
