#pragma once

// Runs one rank's part of a Program on a device. Loading resolves every instruction once — kernels, addresses, edges, events —
// so that issuing one is a few stores; the rank's thread then issues repetition after repetition without waiting for any.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"
#include "exec/communicator.h"
#include "exec/data_source.h"
#include "exec/device.h"
#include "exec/memory_meter.h"
#include "exec/parameters.h"
#include "exec/step_gate.h"

namespace penstock {

// The label of what a rank computes for its GATHER, before it exchanges: a span with the key of the GATHER, whose own span is
// the exchange.
inline constexpr std::string_view kSquaresLabel = "squared norms";

// An operation of this rank's streams, ready to issue.
struct PreparedInstruction {
  InstructionKey key;
  StreamHandle stream;
  std::unique_ptr<StageCall> call;        // compute, LOAD, LOSS, STEP; GATHER: what it gathers
  Communicator* communicator = nullptr;   // SEND, RECV
  GroupCommunicator* group = nullptr;     // ALLREDUCE, GATHER
  std::vector<ByteRange> mine;            // GATHER: what this rank has of the table
  std::byte* data = nullptr;
  Bytes bytes;
  EdgeId edge;
  std::int32_t target = -1;               // SEND, RECV: the edge again; ALLREDUCE, GATHER: the group
  EventHandle wait_for;                   // recorded by the instruction it comes `after`
  EventHandle recorded;                   // by this one, if another comes after it
  std::uint32_t position = 0;             // in its stream's section

  // The work of a GATHER and its exchange, which waits for others, are measured each for itself, in this order.
  std::size_t stamps() const { return call && group != nullptr ? 2 : 1; }
  std::vector<std::int32_t> acquires, releases;  // indices into Program::buffers_of
};

class Interpreter {
 public:
  struct Setup {
    const Plan* plan = nullptr;
    const Program* program = nullptr;
    RankId rank;
    RankDevice* device = nullptr;
    const DataSource* data = nullptr;
    double* losses = nullptr;                           // [step][microbatch]
    std::map<EdgeId, Communicator*> senders, receivers;  // this rank's ends
    std::map<GroupId, GroupCommunicator*> groups;        // those it is a member of
    std::int32_t steps = 1;      // of this run
    std::int64_t first_step = 0;  // steps done before it
    double* gradient_norms = nullptr;  // [step], or null
    StepBoard* board = nullptr;        // or null
    std::uint64_t seed = 0;
  };

  // Refuses by name operations that it does not run, and plans whose workspace is too small for this machine's kernels.
  static Result<std::unique_ptr<Interpreter>> load(Setup setup);

  // The issuing thread's work: prologue, bodies, epilogue. Returns once everything is done, or why not.
  Result<void> run(StepGate& gate);

  // After a run: spans of this rank's streams, and which of them are transfers, by edge.
  struct Transfer {
    EdgeId edge;
    std::uint32_t span;
  };
  void append_spans(Timeline& timeline, std::vector<Transfer>& transfers) const;
  // A parameter of a stage of this rank: its value (state −1) or a state of the optimizer. Only between steps, drained.
  void read_parameter(const ParameterPlace& place, std::int32_t state, std::span<float> out) const;
  void write_parameter(const ParameterPlace& place, std::int32_t state, std::span<const float> values);

  const MemoryMeter& meter() const { return meter_; }
  const Setup& setup() const { return setup_; }
  // What stream s of the program is doing, in the program's own terms.
  Activity activity(std::size_t stream) const { return setup_.device->activity(streams_[stream]); }
  const Instruction* instruction(std::size_t stream, WorkTag tag) const;

 private:
  explicit Interpreter(Setup setup) : setup_(std::move(setup)) {}
  struct Section {
    std::vector<PreparedInstruction> instructions;  // in issue order
    std::size_t stamps = 0;                         // of one repetition
  };

  Result<void> prepare();
  Result<void> prepare_stages();
  Result<void> prepare_section(std::vector<Instruction> Stream::*part, Section& section);
  Result<PreparedInstruction> prepare_instruction(const Instruction& instruction, std::size_t stream);
  std::byte* address(BufferClass cls, StageId stage, std::int32_t microbatch, std::int32_t owner) const;
  std::byte* parameter_address(const ParameterPlace& place, std::int32_t state) const;
  StageMemoryMap memory_map(StageId stage, std::int32_t microbatch) const;
  StageRequest request(StageId stage) const;
  std::byte* message(const Instruction& instruction) const;
  void prepare_collective(const Instruction& instruction, Stage& stage, PreparedInstruction& out) const;
  Result<void> issue_all(StepGate& gate);
  Result<void> issue(const Section& section, std::int32_t first_step, std::size_t first_stamp);

  Setup setup_;
  std::byte* arena_ = nullptr;
  std::vector<StreamHandle> streams_;
  std::map<StageId, std::unique_ptr<Stage>> stages_;
  std::map<StageId, StageLayout> layouts_;
  std::map<std::tuple<BufferClass, std::int32_t, std::int32_t, std::int32_t>, std::int32_t> buffers_;
  Section prologue_, body_, epilogue_;
  std::vector<Stamp> stamps_;
  EventHandle done_[2];  // of the repetitions issued last, by parity
  std::int32_t repetitions_ = 0;  // run
  MemoryMeter meter_;
};

}  // namespace penstock
