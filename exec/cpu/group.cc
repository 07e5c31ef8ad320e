#include "exec/cpu/group.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "exec/cpu/cpu_device.h"

namespace penstock::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;  // floats that a thread adds up at a time
constexpr std::int64_t kLine = 16;     // floats of a cache line: shares begin on one

// Members' arrays of n floats each become their sum, ((m0 + m1) + m2) + …, in this member's share of the elements. No other
// member touches that share, so that the sum is written over what was added.
void add_share(const Assembly& group, std::size_t member, std::int64_t n) {
  const auto members = static_cast<std::int64_t>(group.count), self = static_cast<std::int64_t>(member);
  const auto border = [&](std::int64_t k) { return std::min(n, (n / kLine + 1) * k / members * kLine); };
  const std::int64_t begin = self == 0 ? 0 : border(self), end = self + 1 == members ? n : border(self + 1);
  std::array<float, kBlock> sum;
  for (std::int64_t at = begin; at < end; at += kBlock) {
    const std::int64_t count = std::min(kBlock, end - at);
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    const auto of = [&](std::size_t m) { return reinterpret_cast<float*>(group.members[m].data) + at; };
    std::memcpy(sum.data(), of(0), bytes);
    for (std::size_t m = 1; m < group.count; ++m) {
      const float* other = of(m);
      for (std::int64_t i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += other[i];
    }
    for (std::size_t m = 0; m < group.count; ++m) std::memcpy(of(m), sum.data(), bytes);
  }
}

void hand_out(const Assembly& group, std::size_t member, std::span<const ByteRange> mine) {
  const std::byte* from = group.members[member].data;
  for (const ByteRange& range : mine) {
    for (std::size_t m = 0; m < group.count; ++m) {
      if (m == member) continue;
      std::memcpy(group.members[m].data + range.offset.value, from + range.offset.value,
                  static_cast<std::size_t>(range.bytes.value));
    }
  }
}

}  // namespace

bool take_part(const AssemblyCall& call, RunState& state, const std::string& name, Stamp& stamp) {
  const std::atomic<bool>& aborted = state.aborted();
  const Assembly& group = *call.assembly;
  Assembly::Member& self = group.members[call.member];
  self.data = call.data;
  self.bytes = call.bytes;
  self.identity = call.identity;
  self.reached = state.now();
  self.arrived.set(call.ordinal);
  stamp.start = self.reached;
  for (std::size_t m = 0; m < group.count; ++m) {
    const Assembly::Member& other = group.members[m];
    if (!other.arrived.wait(call.ordinal, aborted)) return false;
    stamp.start = std::max(stamp.start, other.reached);
    if (other.identity == call.identity && other.bytes == call.bytes) continue;
    state.abort(Error{.code = ErrorCode::RunFailed,
                      .message = fmt::format("{}: member {} of a group is at call {:x} of {} bytes, member {} at {:x} of {} bytes",
                                             name, call.member, call.identity, call.bytes, m, other.identity, other.bytes),
                      .hint = "the members' collectives do not match: penstock check names the group"});
    return false;
  }
  if (call.adds) {
    add_share(group, call.member, call.bytes / static_cast<std::int64_t>(sizeof(float)));
  } else {
    hand_out(group, call.member, call.mine);
  }
  self.done.set(call.ordinal);
  for (std::size_t m = 0; m < group.count; ++m) {
    if (!group.members[m].done.wait(call.ordinal, aborted)) return false;
  }
  stamp.end = state.now();
  return true;
}

namespace {

class ThreadGroup final : public GroupCommunicator {
 public:
  ThreadGroup(CpuDevice& device, std::shared_ptr<Assembly> assembly, std::size_t member)
      : device_(device), assembly_(std::move(assembly)), member_(member) {}

  void all_reduce(StreamHandle stream, std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
                  Stamp* stamp) override {
    issue(stream, data, bytes, true, {}, identity, tag, stamp);
  }
  void gather(StreamHandle stream, std::byte* table, Bytes bytes, std::span<const ByteRange> mine, std::uint64_t identity,
              WorkTag tag, Stamp* stamp) override {
    issue(stream, table, bytes, false, mine, identity, tag, stamp);
  }

 private:
  void issue(StreamHandle stream, std::byte* data, Bytes bytes, bool adds, std::span<const ByteRange> mine,
             std::uint64_t identity, WorkTag tag, Stamp* stamp) {
    WorkItem item;
    item.kind = WorkItem::Kind::Collective;
    item.tag = tag;
    item.stamp = stamp;
    item.assembly = {assembly_.get(), member_, ++calls_, data, bytes.value, identity, adds, mine};
    device_.stream(stream).issue(item);
  }

  CpuDevice& device_;
  std::shared_ptr<Assembly> assembly_;
  std::size_t member_;
  std::uint32_t calls_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<GroupCommunicator>> assemble(std::span<CpuDevice* const> devices) {
  auto assembly = std::make_shared<Assembly>(devices.size());
  std::vector<std::unique_ptr<GroupCommunicator>> out;
  for (std::size_t m = 0; m < devices.size(); ++m) {
    devices[m]->keep(assembly);
    out.push_back(std::make_unique<ThreadGroup>(*devices[m], assembly, m));
  }
  return out;
}

}  // namespace penstock::cpu
