#include "core/liveness.h"

#include <algorithm>

#include "core/layout.h"

namespace penstock {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};

// Where transfers stand, by edge and in order: what is certain once they happen.
struct Transfers {
  std::vector<std::vector<std::uint32_t>>
      sent_after;  // a SEND follows this position of its rank's compute stream
  std::vector<std::vector<std::uint32_t>>
      received_at;  // position in the receiver's compute stream; kNever: elsewhere
};

Transfers find_transfers(const Program& program) {
  Transfers transfers{std::vector<std::vector<std::uint32_t>>(program.edges.size()),
                      std::vector<std::vector<std::uint32_t>>(program.edges.size())};
  for (const RankProgram& rank : program.ranks) {
    for (std::size_t s = 0; s < rank.streams.size(); ++s) {
      std::uint32_t follows = kNever;
      const std::vector<Instruction>& body = rank.streams[s].body;
      for (std::uint32_t i = 0; i < body.size(); ++i) {
        const Instruction& instruction = body[i];
        if (s == 0)
          follows = i;
        else if (instruction.after_stream == 0 &&
                 (follows == kNever || instruction.after_index > follows))
          follows = instruction.after_index;
        if (!is_transfer(instruction.key.op)) continue;
        const auto edge = static_cast<std::size_t>(instruction.target);
        if (instruction.key.op == Op::Send)
          transfers.sent_after[edge].push_back(follows);
        else
          transfers.received_at[edge].push_back(s == 0 ? i : kNever);
      }
    }
  }
  return transfers;
}

// Walks one rank's compute stream and collects what each instruction proves.
class ReceiptWalk {
 public:
  ReceiptWalk(const Program& program, const Transfers& transfers,
              std::vector<std::vector<std::uint32_t>>& proofs)
      : program_(program),
        transfers_(transfers),
        proofs_(proofs),
        out_(program.ranks.size()),
        known_(program.ranks.size()) {
    sent_.resize(program.edges.size());
    received_.resize(program.edges.size());
    confirmed_.resize(program.edges.size());
  }

  void walk(std::size_t rank) {
    for (std::size_t e = 0; e < program_.edges.size(); ++e)
      if (program_.edges[e].source.index() == rank)
        out_[program_.edges[e].destination.index()].push_back(e);
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    finished_.assign(streams.size(), 0);
    for (std::uint32_t i = 0; i < streams[0].body.size(); ++i) {
      const Instruction& instruction = streams[0].body[i];
      if (instruction.after_stream > 0) finish(streams, instruction, i);
      see(instruction, i);
    }
    for (std::vector<std::size_t>& edges : out_) edges.clear();
    std::fill(known_.begin(), known_.end(), 0);
  }

 private:
  // Everything of another stream up to the instruction waited for is over.
  void finish(const std::vector<Stream>& streams, const Instruction& waiting,
              std::uint32_t position) {
    const auto stream = static_cast<std::size_t>(waiting.after_stream);
    for (std::uint32_t& next = finished_[stream]; next <= waiting.after_index; ++next)
      see(streams[stream].body[next], position);
  }

  void see(const Instruction& instruction, std::uint32_t position) {
    if (!is_transfer(instruction.key.op)) return;
    const auto edge = static_cast<std::size_t>(instruction.target);
    if (instruction.key.op == Op::Send) {
      prove(edge, sent_[edge]++, position);
      return;
    }
    const std::size_t ordinal = received_[edge]++;
    if (ordinal >= transfers_.sent_after[edge].size())
      return;  // pairs with nothing: the checker says so
    const std::uint32_t peer_position = transfers_.sent_after[edge][ordinal];
    const std::size_t peer = program_.edges[edge].source.index();
    if (peer_position == kNever || known_[peer] > peer_position) return;
    known_[peer] = peer_position + 1;
    for (const std::size_t mine : out_[peer]) {
      const std::vector<std::uint32_t>& arrivals = transfers_.received_at[mine];
      for (std::size_t& next = confirmed_[mine];
           next < arrivals.size() && arrivals[next] < known_[peer]; ++next)
        prove(mine, next, position);
    }
  }

  void prove(std::size_t edge, std::size_t ordinal, std::uint32_t position) {
    if (ordinal < proofs_[edge].size())
      proofs_[edge][ordinal] = std::min(proofs_[edge][ordinal], position);
  }

  const Program& program_;
  const Transfers& transfers_;
  std::vector<std::vector<std::uint32_t>>& proofs_;
  std::vector<std::vector<std::size_t>> out_;  // by rank: edges from the walked rank to it
  std::vector<std::uint32_t>
      known_;  // by rank: how many of its compute instructions are certainly over
  std::vector<std::uint32_t>
      finished_;  // by stream of the walked rank: how many of its instructions are over
  std::vector<std::size_t> sent_, received_,
      confirmed_;  // by edge: how many of its transfers were seen, proven
};

}  // namespace

std::vector<std::vector<std::uint32_t>> receipts(const Program& program) {
  const Transfers transfers = find_transfers(program);
  std::vector<std::vector<std::uint32_t>> proofs(program.edges.size());
  for (std::size_t e = 0; e < proofs.size(); ++e)
    proofs[e].assign(transfers.sent_after[e].size(), kNotProven);
  ReceiptWalk walk(program, transfers, proofs);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    if (!program.ranks[rank].streams.empty()) walk.walk(rank);
  return proofs;
}

namespace {

// First and last uses by (stage or edge, microbatch, slice) of one rank.
class UseTable {
 public:
  struct Use {
    std::uint32_t first = kNever, last = 0;
    void at(std::uint32_t position) {
      first = std::min(first, position);
      last = std::max(last, position);
    }
  };

  UseTable(std::size_t rows, std::size_t columns) : columns_(columns), base_(rows, kNever) {}

  Use& at(std::size_t row, std::size_t column) {
    if (base_[row] == kNever) {
      base_[row] = static_cast<std::uint32_t>(uses_.size() / columns_);
      uses_.resize(uses_.size() + columns_);
    }
    return uses_[base_[row] * columns_ + column];
  }

  void clear() {
    uses_.clear();
    std::fill(base_.begin(), base_.end(), kNever);
  }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> base_;  // by row: which block of columns; kNever: unused so far
  std::vector<Use> uses_;
};

class MemoryAssigner {
 public:
  explicit MemoryAssigner(Program& program)
      : program_(program), proofs_(receipts(program)), sent_(program.edges.size(), 0) {
    std::int32_t microbatches = program.body_microbatches, slices = 1;
    for (const RankProgram& rank : program.ranks)
      for (const Stream& stream : rank.streams)
        for (const Instruction& instruction : stream.body) {
          microbatches = std::max(microbatches, instruction.key.microbatch + 1);
          if (!is_collective(instruction.key.op) && !program.is_part(instruction))
            slices = std::max<std::int32_t>(slices, instruction.key.slice + 1);
        }
    slices_ = static_cast<std::size_t>(slices);
    const std::size_t columns = static_cast<std::size_t>(microbatches) * slices_;
    const auto stages = static_cast<std::size_t>(program.stages);
    for (UseTable* table : {&load_, &stash_, &forward_, &backward_})
      *table = UseTable(stages, columns);
    for (UseTable* table : {&receive_, &send_}) *table = UseTable(program.edges.size(), columns);
  }

  void assign(std::size_t rank) {
    for (UseTable* table : {&load_, &stash_, &forward_, &backward_, &receive_, &send_})
      table->clear();
    scan(program_.ranks[rank]);
    const std::size_t length =
        program_.ranks[rank].streams.empty() ? 0 : program_.ranks[rank].streams[0].body.size();
    end_ = length == 0 ? 0 : static_cast<std::uint32_t>(length - 1);
    const std::span<Buffer> buffers =
        std::span(program_.buffers)
            .subspan(program_.first_buffer[rank],
                     program_.first_buffer[rank + 1] - program_.first_buffer[rank]);

    Bytes bottom;
    lives_.clear();
    for (Buffer& buffer : buffers) {
      set_life(buffer);
      if (is_persistent(buffer.cls)) {
        buffer.offset = bottom;
        bottom += align_up(buffer.bytes, kTensorAlignment);
      } else {
        lives_.push_back({buffer.first, buffer.last, buffer.bytes});
      }
    }
    const Layout layout = lay_out(lives_);
    std::size_t next = 0;
    for (Buffer& buffer : buffers)
      if (!is_persistent(buffer.cls)) buffer.offset = bottom + layout.offsets[next++];
    program_.arena[rank] = bottom + layout.peak;
    program_.live_peak[rank] = bottom + layout.live_peak;
  }

 private:
  std::size_t column(std::int32_t microbatch, std::uint8_t slice) const {
    return static_cast<std::size_t>(std::max(microbatch, 0)) * slices_ + slice;
  }

  void scan(const RankProgram& rank) {
    for (std::size_t s = 0; s < rank.streams.size(); ++s) {
      const std::vector<Instruction>& body = rank.streams[s].body;
      for (std::uint32_t i = 0; i < body.size(); ++i) {
        const Instruction& instruction = body[i];
        const InstructionKey& key = instruction.key;
        if (is_collective(key.op)) continue;
        const std::size_t where =
            column(key.microbatch, program_.is_part(instruction) ? std::uint8_t{0} : key.slice);
        if (is_transfer(key.op)) {
          const auto edge = static_cast<std::size_t>(instruction.target);
          if (key.op == Op::Send) {
            send_.at(program_.send_row(edge), where).at(proofs_[edge][sent_[edge]++]);
            continue;
          }
          const std::uint32_t position = s == 0                          ? i
                                         : instruction.after_stream == 0 ? instruction.after_index
                                                                         : 0;
          receive_.at(program_.receive_row(edge), where).at(position);
          if (program_.edges[edge].payload == Payload::Activation)
            stash_.at(key.stage, where).at(position);
        } else if (s == 0) {
          if (key.op == Op::Load) load_.at(key.stage, where).at(i);
          if (key.op == Op::F)
            forward_.at(key.stage, where).at(i), stash_.at(key.stage, where).at(i);
          if (is_backward(key.op) || key.op == Op::W) backward_.at(key.stage, where).at(i);
        }
      }
    }
  }

  void set_life(Buffer& buffer) {
    buffer.first = 0;
    buffer.last = end_;
    if (is_persistent(buffer.cls)) return;
    const std::size_t where = column(buffer.microbatch, buffer.slice);
    const auto owner = static_cast<std::size_t>(buffer.owner);
    std::size_t stage = buffer.stage;
    if (buffer.cls == BufferClass::SendBuffer) stage = program_.edges[owner].from.index();
    if (buffer.cls == BufferClass::ReceiveBuffer) stage = program_.edges[owner].to.index();
    switch (buffer.cls) {
      case BufferClass::Data:
        buffer.first = load_.at(stage, where).first;
        break;
      case BufferClass::Stash:
        buffer.first = stash_.at(stage, where).first;
        break;
      case BufferClass::ReceiveBuffer:
        buffer.first = receive_.at(owner, where).first;
        break;
      case BufferClass::SendBuffer: {
        UseTable& producer =
            program_.edges[owner].payload == Payload::Activation ? forward_ : backward_;
        buffer.first = producer.at(stage, where).first;
        const std::uint32_t proof = send_.at(owner, where).last;  // of all its messages
        if (proof != kNotProven) buffer.last = proof;
        break;
      }
      default:
        break;
    }
    if (buffer.cls != BufferClass::SendBuffer)
      if (const UseTable::Use& use = backward_.at(stage, where); use.first != kNever)
        buffer.last = use.last;
    PENSTOCK_CHECK(buffer.first <= buffer.last && buffer.last <= end_,
                   "a buffer whose instructions the program lacks");
  }

  Program& program_;
  const std::vector<std::vector<std::uint32_t>> proofs_;
  std::vector<std::size_t> sent_;  // by edge: SENDs scanned so far
  std::size_t slices_ = 1;
  std::uint32_t end_ = 0;  // last position of the rank's compute body
  UseTable load_{0, 1}, stash_{0, 1}, forward_{0, 1}, backward_{0, 1}, receive_{0, 1}, send_{0, 1};
  std::vector<Lifetime> lives_;
};

}  // namespace

void assign_memory(Program& program) {
  PENSTOCK_CHECK(program.first_buffer.size() == program.ranks.size() + 1,
                 "buffers must be listed by rank");
  program.arena.assign(program.ranks.size(), Bytes(0));
  program.live_peak.assign(program.ranks.size(), Bytes(0));
  MemoryAssigner assigner(program);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) assigner.assign(rank);
}

}  // namespace penstock
