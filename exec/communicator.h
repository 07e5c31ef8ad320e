#pragma once

// What ranks say to each other. A Communicator is one end of one directed edge. Sends and receives are issued on streams like any other work, meet in order, and complete
// only when both sides have met: a send is never buffered.

#include <cstdint>
#include <memory>
#include <span>

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

// Both ends of an edge.
struct CommunicatorPair {
  std::unique_ptr<Communicator> sender, receiver;
};

struct ByteRange {
  Bytes offset, bytes;
};

// A rank's place in a group. The k-th call of each member meets the k-th of the others; none is over before all are.
class GroupCommunicator {
 public:
  virtual ~GroupCommunicator() = default;

  // Floats of all members are added in the order of the members, and each has the sum in place of its own.
  virtual void all_reduce(StreamHandle stream, std::byte* data, Bytes bytes, std::uint64_t identity, WorkTag tag,
                          Stamp* stamp) = 0;
  // Of a table each member has the ranges `mine`, which outlive the call and which no other member names; then all have all
  // of them. A member may hold something in ranges of others: it is written over.
  virtual void gather(StreamHandle stream, std::byte* table, Bytes bytes, std::span<const ByteRange> mine,
                      std::uint64_t identity, WorkTag tag, Stamp* stamp) = 0;
};

}  // namespace penstock
