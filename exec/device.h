#pragma once

// What the interpreter asks of a backend, with CUDA's semantics (docs/adr/0001-device-interface.md). All calls but
// activity() and abort() come from the rank's one issuing thread and return without waiting, save synchronize() and await().

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/result.h"
#include "core/units.h"
#include "exec/stage.h"

namespace penstock {

using StreamHandle = Id<struct StreamHandleTag>;
using EventHandle = Id<struct EventHandleTag>;

// Which instruction a piece of work belongs to: index into the interpreter's table for the stream, and the step.
struct WorkTag {
  std::int32_t instruction = -1;
  std::int32_t step = 0;
};

enum class ActivityKind : std::uint8_t { Idle, Running, WaitingForEvent, WaitingForPeer };

// What a stream is doing, and since when.
struct Activity {
  ActivityKind kind = ActivityKind::Idle;
  WorkTag work;
  Nanoseconds since;
};

enum class StreamRole : std::uint8_t { Compute, Transfer };

struct DeviceDescription {
  std::string backend;          // "cpu"
  std::string name;             // of the processor
  std::string instruction_set;  // what kernels dispatch to
};

class RankDevice {
 public:
  virtual ~RankDevice() = default;

  virtual DeviceDescription describe() const = 0;
  // Once. Zeroed, 64-byte aligned, touched. Unavailable if the machine cannot give that much.
  virtual Result<std::byte*> allocate(Bytes bytes) = 0;
  virtual StreamHandle create_stream(std::string name, StreamRole role) = 0;
  virtual EventHandle create_event() = 0;

  virtual void record(StreamHandle stream, EventHandle event) = 0;
  virtual void wait(StreamHandle stream, EventHandle event, WorkTag tag) = 0;
  // The issuing thread itself waits for the event's latest record; false if the run was given up.
  virtual bool await(EventHandle event) = 0;
  // `call` was made by a stage of this device and outlives the launch; `stamp` may be null.
  virtual void launch(StreamHandle stream, StageCall& call, WorkTag tag, Stamp* stamp) = 0;

  // Kernels of a stage, for microbatches of the plan's size.
  virtual Result<std::unique_ptr<Stage>> make_stage(const StageRequest& request) = 0;

  virtual void write(std::byte* destination, const void* source, Bytes bytes) = 0;
  virtual void read(void* destination, const std::byte* source, Bytes bytes) const = 0;

  virtual Result<void> synchronize() = 0;
  virtual Activity activity(StreamHandle stream) const = 0;
  virtual void abort(const Error& reason) = 0;
};

}  // namespace penstock
