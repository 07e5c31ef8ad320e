#include "exec/cpu/cpu_device.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <cstring>

#include "exec/cpu/cpu_stage.h"
#include "exec/cpu/processor.h"

namespace penstock::cpu {

CpuDevice::CpuDevice(std::shared_ptr<RunState> state, int core) : state_(std::move(state)), core_(core) {}

CpuDevice::~CpuDevice() {
  streams_.clear();
  if (arena_ != nullptr) munmap(arena_, arena_bytes_);
}

DeviceDescription CpuDevice::describe() const {
  return {.backend = "cpu", .name = processor_name(), .instruction_set = instruction_set()};
}

Result<std::byte*> CpuDevice::allocate(Bytes bytes) {
  PENSTOCK_CHECK(arena_ == nullptr, "the arena is allocated once");
  arena_bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes.value, kTensorAlignment));
  void* memory = mmap(nullptr, arena_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::Unavailable, fmt::format("cannot allocate {} for a rank", text(bytes)),
                "plan with a smaller microbatch, or with --memory-limit below what is free");
  }
  madvise(memory, arena_bytes_, MADV_HUGEPAGE);
  std::memset(memory, 0, arena_bytes_);  // touched now, not in the first step
  arena_ = static_cast<std::byte*>(memory);
  return arena_;
}

StreamHandle CpuDevice::create_stream(std::string name, StreamRole role) {
  streams_.push_back(std::make_unique<Stream>(std::move(name), *state_, role == StreamRole::Compute ? core_ : -1));
  return StreamHandle(static_cast<std::int64_t>(streams_.size()) - 1);
}

EventHandle CpuDevice::create_event() {
  events_.push_back(std::make_unique<Event>());
  return EventHandle(static_cast<std::int64_t>(events_.size()) - 1);
}

void CpuDevice::record(StreamHandle handle, EventHandle event) {
  Event& e = *events_[event.index()];
  WorkItem item;
  item.kind = WorkItem::Kind::Record;
  item.word = &e.happened;
  item.at = &e.at;
  item.target = ++e.records;
  stream(handle).issue(item);
}

void CpuDevice::wait(StreamHandle handle, EventHandle event, WorkTag tag) {
  Event& e = *events_[event.index()];
  WorkItem item;
  item.kind = WorkItem::Kind::Wait;
  item.tag = tag;
  item.word = &e.happened;
  item.at = &e.at;
  item.target = e.records;  // the latest record as of now
  stream(handle).issue(item);
}

bool CpuDevice::await(EventHandle event) {
  const Event& e = *events_[event.index()];
  return e.happened.wait(e.records, state_->aborted(), 0) && !state_->aborted().load(std::memory_order_acquire);
}

void CpuDevice::launch(StreamHandle handle, StageCall& call, WorkTag tag, Stamp* stamp) {
  WorkItem item;
  item.kind = WorkItem::Kind::Call;
  item.tag = tag;
  item.stamp = stamp;
  item.call = &static_cast<Call&>(call);
  stream(handle).issue(item);
}

Result<std::unique_ptr<Stage>> CpuDevice::make_stage(const StageRequest& request) { return make_cpu_stage(request); }

void CpuDevice::write(std::byte* destination, const void* source, Bytes bytes) {
  std::memcpy(destination, source, static_cast<std::size_t>(bytes.value));
}

void CpuDevice::read(void* destination, const std::byte* source, Bytes bytes) const {
  std::memcpy(destination, source, static_cast<std::size_t>(bytes.value));
}

Result<void> CpuDevice::synchronize() {
  for (const auto& s : streams_) s->drain();
  if (auto reason = state_->reason()) return fail(*reason);
  return {};
}

Activity CpuDevice::activity(StreamHandle handle) const { return streams_[handle.index()]->activity(); }

void CpuDevice::abort(const Error& reason) { state_->abort(reason); }

namespace {

// Both ends share the channel; each issues on its own device's streams.
class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(CpuDevice& device, std::shared_ptr<Channel> channel) : device_(device), channel_(std::move(channel)) {}

  void send(StreamHandle stream, const std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
            Stamp* stamp) override {
    // A Send item only lends the address: the receiver reads it.
    issue(WorkItem::Kind::Send, stream, const_cast<std::byte*>(data), bytes, identity, tag, stamp);
  }
  void receive(StreamHandle stream, std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
               Stamp* stamp) override {
    issue(WorkItem::Kind::Receive, stream, data, bytes, identity, tag, stamp);
  }

 private:
  void issue(WorkItem::Kind kind, StreamHandle stream, std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
             Stamp* stamp) {
    WorkItem item;
    item.kind = kind;
    item.tag = tag;
    item.stamp = stamp;
    item.channel = channel_.get();
    item.target = ++messages_;
    item.data = data;
    item.bytes = bytes.value;
    item.identity = identity;
    device_.stream(stream).issue(item);
  }

  CpuDevice& device_;
  std::shared_ptr<Channel> channel_;
  std::uint32_t messages_ = 0;
};

}  // namespace

CommunicatorPair connect(CpuDevice& source, CpuDevice& destination) {
  auto channel = std::make_shared<Channel>();
  source.keep(channel);
  destination.keep(channel);
  return {.sender = std::make_unique<ThreadCommunicator>(source, channel),
          .receiver = std::make_unique<ThreadCommunicator>(destination, channel)};
}

}  // namespace penstock::cpu
