#include "exec/cpu/stream.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::cpu {

Stream::Stream(std::string name, RunState& state, int core) : name_(std::move(name)), state_(state), ring_(kCapacity) {
  worker_ = std::thread([this] { work(); });
  pthread_setname_np(worker_.native_handle(), name_.substr(0, 15).c_str());
  if (core >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    pthread_setaffinity_np(worker_.native_handle(), sizeof(set), &set);  // a wish: failing it costs time, not results
  }
}

Stream::~Stream() {
  WorkItem stop;
  stop.kind = WorkItem::Kind::Stop;
  issue(stop);
  worker_.join();
}

void Stream::issue(const WorkItem& item) {
  // The slot is free once the item kCapacity before it is done; a given-up run drains its rings without executing, so this
  // wait ends either way.
  static const std::atomic<bool> never{false};
  done_.wait(next_ + 1 - kCapacity, never, 0);
  ring_[next_ % kCapacity] = item;
  issued_.set(++next_);
}

bool Stream::drain() {
  static const std::atomic<bool> never{false};
  done_.wait(next_, never);
  return !state_.aborted().load(std::memory_order_acquire);
}

void Stream::set_activity(ActivityKind kind, WorkTag tag) {
  tag_.store(std::bit_cast<std::uint64_t>(tag), std::memory_order_relaxed);
  since_.store(state_.now().value, std::memory_order_relaxed);
  activity_.store(kind, std::memory_order_release);
}

Activity Stream::activity() const {
  Activity out;
  out.kind = activity_.load(std::memory_order_acquire);
  out.work = std::bit_cast<WorkTag>(tag_.load(std::memory_order_relaxed));
  out.since = Nanoseconds(since_.load(std::memory_order_relaxed));
  return out;
}

void Stream::work() {
  static const std::atomic<bool> never{false};
  for (std::uint32_t next = 0;; ++next) {
    if (!issued_.reached(next + 1)) {
      set_activity(ActivityKind::Idle, {});
      issued_.wait(next + 1, never);
    }
    const WorkItem item = ring_[next % kCapacity];
    if (item.kind == WorkItem::Kind::Stop) return;
    if (!state_.aborted().load(std::memory_order_acquire)) execute(item);
    done_.set(next + 1);
  }
}

bool Stream::execute(const WorkItem& item) {
  const std::atomic<bool>& aborted = state_.aborted();
  Stamp stamp;
  switch (item.kind) {
    case WorkItem::Kind::Call: {
      set_activity(ActivityKind::Running, item.tag);
      stamp.start = state_.now();
      if (auto result = item.call->run(item.tag.step); !result) state_.abort(result.error());
      stamp.end = state_.now();
      break;
    }
    case WorkItem::Kind::Record:
      item.at->store(state_.now().value, std::memory_order_relaxed);
      item.word->set(item.target);
      return true;
    case WorkItem::Kind::Wait:
      if (!item.word->reached(item.target)) {
        set_activity(ActivityKind::WaitingForEvent, item.tag);
        if (!item.word->wait(item.target, aborted)) return false;
      }
      ready_ = Nanoseconds(item.at->load(std::memory_order_relaxed));
      return true;
    case WorkItem::Kind::Send: {
      set_activity(ActivityKind::WaitingForPeer, item.tag);
      Channel& channel = *item.channel;
      channel.ready = ready_;
      channel.data = item.data;
      channel.bytes = item.bytes;
      channel.identity = item.identity;
      channel.offered.set(item.target);
      // The receiver copies; nothing here is urgent, so sleep at once and leave the core to those that compute.
      if (!channel.taken.wait(item.target, aborted, 0)) return false;
      stamp = channel.transfer;
      break;
    }
    case WorkItem::Kind::Receive: {
      set_activity(ActivityKind::WaitingForPeer, item.tag);
      Channel& channel = *item.channel;
      const Nanoseconds reached = state_.now();
      if (!channel.offered.wait(item.target, aborted)) return false;
      if (channel.identity != item.identity || channel.bytes != item.bytes) {
        state_.abort(Error{.code = ErrorCode::RunFailed,
                           .message = fmt::format("{}: expected message {:x} of {} bytes, got {:x} of {} bytes", name_,
                                                  item.identity, item.bytes, channel.identity, channel.bytes),
                           .hint = "the program's SENDs and RECVs do not pair up: penstock check names the edge"});
        return false;
      }
      // The transfer lasts from when both sides had reached it: the message made, the receiver here. Waking up is part of it.
      stamp.start = std::max(reached, channel.ready);
      std::memcpy(item.data, channel.data, static_cast<std::size_t>(item.bytes));
      stamp.end = state_.now();
      channel.transfer = stamp;
      channel.taken.set(item.target);
      break;
    }
    case WorkItem::Kind::Collective:
      set_activity(ActivityKind::WaitingForPeer, item.tag);
      if (!take_part(item.assembly, state_, name_, stamp)) return false;
      break;
    case WorkItem::Kind::Stop:
      return false;
  }
  if (item.stamp != nullptr) *item.stamp = stamp;
  return true;
}

}  // namespace penstock::cpu
