#pragma once

// All that the simulator and the executor ever see of a schedule: per rank and stream the instructions, and the tables
// they index. Streams of a rank run concurrently, each in order; across streams an instruction may wait for one other
// (`after`), and WAIT does nothing else. SEND and RECV name an edge; the k-th SEND on an edge meets the k-th RECV.
// File form: penstock.program/1 (docs/formats/program.md).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contention.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/plan.h"
#include "core/units.h"

namespace penstock {

enum class StreamKind : std::uint8_t { Compute, Send, Receive, Collective, Copy };
constexpr auto enum_names(StreamKind) {
  return std::to_array<std::pair<StreamKind, std::string_view>>({{StreamKind::Compute, "compute"},
                                                                 {StreamKind::Send, "send"},
                                                                 {StreamKind::Receive, "receive"},
                                                                 {StreamKind::Collective, "collective"},
                                                                 {StreamKind::Copy, "copy"}});
}

struct Stream {
  StreamKind kind = StreamKind::Compute;
  EdgeId edge;  // Send, Receive: the one edge it serves (a communicator is per directed edge)
  std::vector<Instruction> prologue, body, epilogue;

  bool operator==(const Stream&) const = default;
};

struct RankProgram {
  DeviceId device;
  Bytes memory_limit;           // 0: none is set
  std::vector<Stream> streams;  // [0] is the compute stream
  HostId host;                  // with whom it contends; invalid where the program says nothing of contention

  bool operator==(const RankProgram&) const = default;
};

enum class SegmentKind : std::uint8_t { Compute, Collective, Transfer };
constexpr auto enum_names(SegmentKind) {
  return std::to_array<std::pair<SegmentKind, std::string_view>>({{SegmentKind::Compute, "compute"},
                                                                  {SegmentKind::Collective, "collective"},
                                                                  {SegmentKind::Transfer, "transfer"}});
}

struct Segment {
  SegmentKind kind = SegmentKind::Compute;
  Nanoseconds duration;  // alone on its resource
  Bytes bytes;           // moved (Transfer, Collective) or touched (Compute)
  GroupId group;
  // Of the stage's layers, counted within it, those that a part of a BF covers; both 0: all.
  std::int32_t first_layer = 0, end_layer = 0;
  // Of a Compute, where the program says how classes contend: the part of it that is of class memory; the rest is matrix.
  double memory_share = 0;

  bool operator==(const Segment&) const = default;
};

struct Recipe {
  std::string name;  // "F stage 0"
  std::vector<Segment> segments;

  Nanoseconds duration() const;  // one after the other
  bool operator==(const Recipe&) const = default;
};

enum class Payload : std::uint8_t { Activation, Gradient, Weight, Stash };
constexpr auto enum_names(Payload) {
  return std::to_array<std::pair<Payload, std::string_view>>({{Payload::Activation, "activation"},
                                                              {Payload::Gradient, "gradient"},
                                                              {Payload::Weight, "weight"},
                                                              {Payload::Stash, "stash"}});
}

struct ProgramEdge {
  StageId from, to;  // of the message, so a gradient's edge points from the later stage to the earlier
  RankId source, destination;
  Payload payload = Payload::Activation;
  DependencyKind kind = DependencyKind::Data;
  std::vector<LayerId> tensors;  // whose outputs (or their gradients) a message holds, each 64-byte aligned
  Bytes bytes;
  std::int32_t distance = 0;  // steps between SEND and the step its RECV belongs to
  // Between copies that share a microbatch: the samples of it that a message holds; 0 samples: all that both ends have.
  std::int64_t first_sample = 0, samples = 0;
  // Where the message lies in the buffers of the two ends, and which edges' rows these are (invalid: its own): what a
  // stage sends to another, or has back from it, is one buffer, of which each message is a part. An activation is received
  // into the stash; its offset counts from where the tensors of that stage lie there.
  EdgeId send_buffer, receive_buffer;
  Bytes send_offset, receive_offset;

  bool operator==(const ProgramEdge&) const = default;
};

// What the members of a group add up, or gather.
enum class GroupKind : std::uint8_t { Gradients, GradientNorm };
constexpr auto enum_names(GroupKind) {
  return std::to_array<std::pair<GroupKind, std::string_view>>(
      {{GroupKind::Gradients, "gradients"}, {GroupKind::GradientNorm, "gradient_norm"}});
}

// The k-th collective of a group on one member meets the k-th on the others: all start when the last arrives.
//   gradients      ALLREDUCE: one bucket of the gradients of a stage's copies, `bytes` from `offset` of each one's buffer
//   gradient_norm  GATHER: the squared norms of all gradients, 8 bytes a parameter, of which each rank has its stage's
struct Group {
  GroupKind kind = GroupKind::Gradients;
  std::vector<RankId> ranks;  // in the order in which contributions are added: copy 0, copy 1, …
  Bytes bytes;
  StageId stage;                                        // gradients: whose
  Bytes offset;                                         // gradients: of the bucket in the stage's gradients
  std::int32_t first_parameter = 0, end_parameter = 0;  // gradients: of the stage's parameters, in declaration order
  std::int32_t first_layer = 0;  // gradients: the lowest of the stage's layers, counted within it, that they belong to

  bool operator==(const Group&) const = default;
};

// In which order gradients are added: inside each copy microbatch by microbatch, then the copies one after the other.
struct AccumulationTree {
  std::vector<std::vector<std::int32_t>> copies;  // [copy]: its microbatches, in order
  bool operator==(const AccumulationTree&) const = default;
};

struct ProgramStore {
  std::string name;
  NetworkId network{0};
  StageId stage;
  RankId rank;
  std::int32_t copy = 0;
  StoreKind kind = StoreKind::Trained;
  std::int32_t versions = 1;
  std::int32_t shards = 1;
  // Where the copies of a stage share every microbatch: this one's part; 0 samples: whole microbatches.
  std::int64_t first_sample = 0, samples = 0;
  std::int32_t layers = 0;  // of the stage, where its backwards come in parts; 0: not said
  std::int32_t parameters = 0;  // of the stage, each on a 64-byte boundary; 0: not said, as where there is no workload
  AccumulationTree accumulation;

  bool operator==(const ProgramStore&) const = default;
};

// Persistent classes (weights, gradients, optimizer state, norms, workspace) live through the whole run.
enum class BufferClass : std::uint8_t {
  Weights, Gradients, Optimizer, Norms, Workspace, Data, Stash, SendBuffer, ReceiveBuffer
};
constexpr auto enum_names(BufferClass) {
  return std::to_array<std::pair<BufferClass, std::string_view>>({{BufferClass::Weights, "weights"},
                                                                  {BufferClass::Gradients, "gradients"},
                                                                  {BufferClass::Optimizer, "optimizer"},
                                                                  {BufferClass::Norms, "norms"},
                                                                  {BufferClass::Workspace, "workspace"},
                                                                  {BufferClass::Data, "data"},
                                                                  {BufferClass::Stash, "stash"},
                                                                  {BufferClass::SendBuffer, "send"},
                                                                  {BufferClass::ReceiveBuffer, "receive"}});
}
constexpr bool is_persistent(BufferClass c) { return c <= BufferClass::Workspace; }

// A piece of a rank's memory, by what it holds. Live from before instruction `first` to after instruction `last` of the
// rank's compute stream body: order alone, no times. A SEND's buffer outlives the proof that it was received.
struct Buffer {
  BufferClass cls = BufferClass::Stash;
  std::uint8_t slice = 0;
  std::uint16_t stage = 0;
  std::int32_t microbatch = -1;
  std::int32_t owner = -1;  // EdgeId of send and receive buffers, StoreId of weights, gradients and optimizer state
  std::uint32_t first = 0, last = 0;
  Bytes bytes, offset;

  bool operator==(const Buffer&) const = default;
};
static_assert(sizeof(Buffer) <= 40);

struct Program {
  std::string name;  // "1f1b, 2 stages, 16 microbatches"
  std::int32_t body_steps = 1;         // what one repetition of the body advances by
  std::int32_t body_microbatches = 1;
  std::int32_t stages = 1;
  std::int64_t microbatch_size = 1;  // samples
  std::vector<RankProgram> ranks;
  std::vector<Recipe> recipes;
  std::vector<ProgramEdge> edges;
  std::vector<Group> groups;
  std::vector<ProgramStore> stores;
  std::vector<Buffer> buffers;              // by rank
  std::vector<std::size_t> first_buffer;    // ranks + 1 offsets into buffers
  std::vector<Bytes> arena;                 // one a rank: what the layout takes, the layout's peak
  std::optional<Contention> contention;     // how ranks of one host slow one another down; none: not at all
  std::vector<Bytes> live_peak;             // one a rank: most bytes live at once; the gap to arena is fragmentation

  std::span<const Buffer> buffers_of(RankId rank) const {
    return std::span(buffers).subspan(first_buffer[rank.index()], first_buffer[rank.index() + 1] - first_buffer[rank.index()]);
  }
  // The edge whose rows hold the messages of an edge, where it begins and where it ends.
  std::size_t send_row(std::size_t edge) const {
    return edges[edge].send_buffer.valid() ? edges[edge].send_buffer.index() : edge;
  }
  std::size_t receive_row(std::size_t edge) const {
    return edges[edge].receive_buffer.valid() ? edges[edge].receive_buffer.index() : edge;
  }
  // Whether a BF covers some of its stage's layers only: then slice counts the parts of its microbatch.
  bool is_part(const Instruction& instruction) const {
    return instruction.key.op == Op::BF && instruction.recipe >= 0 &&
           recipes[static_cast<std::size_t>(instruction.recipe)].segments.front().end_layer > 0;
  }
  std::size_t instruction_count() const;  // all ranks, streams and sections
  std::size_t resident_bytes() const;     // heap bytes of instructions and tables
  bool operator==(const Program&) const = default;
};

}  // namespace penstock
