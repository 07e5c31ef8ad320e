#pragma once

// A stream of the CPU backend: a worker thread that takes work items off a ring in order. One thread issues, one works;
// a full ring holds the issuer back, which bounds how far it runs ahead.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exec/cpu/group.h"
#include "exec/cpu/run_state.h"
#include "exec/cpu/wait_word.h"
#include "exec/device.h"

namespace penstock::cpu {

// A prepared call of this backend.
class Call : public StageCall {
 public:
  // A failure (a loss that is not finite) gives the run up.
  virtual Result<void> run(std::int32_t step) = 0;
};

// The meeting place of one directed edge between two threads of a process.
struct Channel {
  Nanoseconds ready;  // when the operation that made the message on offer was over
  WaitWord offered;  // messages the sender has laid open
  WaitWord taken;    // messages the receiver has copied
  Stamp transfer;    // of the message last taken
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t identity = 0;
};

struct WorkItem {
  enum class Kind : std::uint8_t { Call, Record, Wait, Send, Receive, Collective, Stop };
  Kind kind = Kind::Call;
  WorkTag tag;
  Stamp* stamp = nullptr;
  Call* call = nullptr;
  WaitWord* word = nullptr;       // Record, Wait
  std::atomic<std::int64_t>* at = nullptr;  // Record, Wait: when the event happened
  std::uint32_t target = 0;       // Record, Wait, Send, Receive: count to reach
  Channel* channel = nullptr;     // Send, Receive
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t identity = 0;
  AssemblyCall assembly;          // Collective
};

class Stream {
 public:
  // `core`: which core the worker is bound to, -1 for any.
  Stream(std::string name, RunState& state, int core);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void issue(const WorkItem& item);
  // Until everything issued so far is done. False if the run was given up.
  bool drain();
  Activity activity() const;
  const std::string& name() const { return name_; }

 private:
  static constexpr std::uint32_t kCapacity = 1024;  // a power of two

  void work();
  bool execute(const WorkItem& item);
  void set_activity(ActivityKind kind, WorkTag tag);

  std::string name_;
  RunState& state_;
  std::vector<WorkItem> ring_;
  WaitWord issued_;  // items written
  WaitWord done_;    // items finished
  std::uint32_t next_ = 0;  // issuer's own count
  Nanoseconds ready_;       // worker's own: when the event it last waited for happened
  std::atomic<ActivityKind> activity_{ActivityKind::Idle};
  std::atomic<std::int64_t> since_{0};
  std::atomic<std::uint64_t> tag_{0};
  std::thread worker_;
};

}  // namespace penstock::cpu
