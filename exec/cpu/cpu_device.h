#pragma once

// The CPU backend: one rank of a process. Streams are worker threads, memory is one arena, kernels run on the thread of
// their stream.

#include <memory>
#include <vector>

#include "exec/communicator.h"
#include "exec/cpu/run_state.h"
#include "exec/cpu/stream.h"
#include "exec/device.h"

namespace penstock::cpu {

class CpuDevice final : public RankDevice {
 public:
  // `core`: where the compute stream is bound, -1 for anywhere.
  CpuDevice(std::shared_ptr<RunState> state, int core);
  ~CpuDevice() override;

  DeviceDescription describe() const override;
  Result<std::byte*> allocate(Bytes bytes) override;
  StreamHandle create_stream(std::string name, StreamRole role) override;
  EventHandle create_event() override;
  void record(StreamHandle stream, EventHandle event) override;
  void wait(StreamHandle stream, EventHandle event, WorkTag tag) override;
  bool await(EventHandle event) override;
  void launch(StreamHandle stream, StageCall& call, WorkTag tag, Stamp* stamp) override;
  Result<std::unique_ptr<Stage>> make_stage(const StageRequest& request) override;
  void write(std::byte* destination, const void* source, Bytes bytes) override;
  void read(void* destination, const std::byte* source, Bytes bytes) const override;
  Result<void> synchronize() override;
  Activity activity(StreamHandle stream) const override;
  void abort(const Error& reason) override;

  Stream& stream(StreamHandle handle) { return *streams_[handle.index()]; }
  // Keeps what this device's workers meet others at (a channel, an assembly) for as long as they run.
  void keep(std::shared_ptr<void> place) { meeting_places_.push_back(std::move(place)); }

 private:
  struct Event {
    WaitWord happened;
    std::atomic<std::int64_t> at{0};  // when, on the run's clock
    std::uint32_t records = 0;  // the issuer's count
  };

  std::shared_ptr<RunState> state_;
  int core_;
  std::byte* arena_ = nullptr;
  std::size_t arena_bytes_ = 0;
  std::vector<std::shared_ptr<void>> meeting_places_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Stream>> streams_;  // after events_: workers end before what they wait for
};

// The ends of one edge between two ranks of this process, or of a rank with itself.
CommunicatorPair connect(CpuDevice& source, CpuDevice& destination);

}  // namespace penstock::cpu
