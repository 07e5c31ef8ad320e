#pragma once

// One end of one directed edge. Sends and receives are issued on streams like any other work, meet in order, and complete
// only when both sides have met: a send is never buffered.

#include <cstdint>

#include "core/units.h"
#include "exec/device.h"

namespace penstock {

class Communicator {
 public:
  virtual ~Communicator() = default;

  // `identity` travels with the message; a receiver that expected another one fails the run (never silently).
  virtual void send(StreamHandle stream, const std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
                    Stamp* stamp) = 0;
  // The stamp starts when the message was made and the receiver had reached this: waiting for a peer that is late is not part
  // of the transfer, waking up is.
  virtual void receive(StreamHandle stream, std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
                       Stamp* stamp) = 0;
};

}  // namespace penstock
