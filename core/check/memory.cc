// R8, R9: what the rows of the buffer table claim, held against the instructions and against each
// other. Shares nothing with core/layout.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/check/program_index.h"
#include "core/liveness.h"

namespace penstock::check_rules {
namespace {

using Cell = ProgramIndex::Cell;

std::int64_t rounded(Bytes bytes) {
  return align_up(bytes, kTensorAlignment).value;
}

class Memory {
 public:
  Memory(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program),
        index_(index),
        report_(report),
        columns_(index.microbatches * index.slices),
        proofs_(receipts(program)),
        // Where weights are told of, or any message is, all messages have buffers.
        keeps_messages_(std::any_of(program.buffers.begin(), program.buffers.end(),
                                    [](const Buffer& b) {
                                      return is_message(b.cls) || b.cls == BufferClass::Weights;
                                    })),
        keeps_activations_(std::any_of(
            program.buffers.begin(), program.buffers.end(),
            [](const Buffer& b) { return b.cls == BufferClass::Stash; })),
        stage_block_(index.stages),
        edge_block_(program.edges.size()),
        runs_(program.ranks.size()) {
    for (std::size_t row = 0; row < index.rows.size(); ++row)
      for (std::size_t column = 0; column < columns_; ++column) {
        std::vector<std::size_t>& stages =
            runs_[static_cast<std::size_t>(index.cell(row, column).rank)];
        if (stages.empty() || stages.back() != index.rows[row].stage)
          stages.push_back(index.rows[row].stage);
      }
  }

  void check(std::size_t rank) {
    rank_ = rank;
    rows_ = program_.buffers_of(rank_id(rank));
    for (std::vector<std::uint32_t>* block : {&stage_block_, &edge_block_})
      std::fill(block->begin(), block->end(), kAbsent);
    stash_.clear(), data_.clear(), transfers_.clear(), owned_.clear(), unproven_.clear();
    find_transfers();
    for (const auto& [row, column] : unproven_)
      at(transfers_, edge_block_, row, column, kAbsent) = kNotProven;
    for (std::size_t i = 0; i < rows_.size(); ++i) lifetime(i);
    parts_lie_within();
    rows_for_all();
    sweep();
  }

 private:
  const std::vector<Instruction>& compute() const { return program_.ranks[rank_].streams[0].body; }

  void refuse(std::string_view rule, std::string message,
              std::vector<std::string> instructions = {}) {
    report_.add(rule, fmt::format("rank {}: {}", rank_, message), {rank_id(rank_)},
                std::move(instructions));
  }

  std::string named(const Buffer& buffer) const {
    std::string out = fmt::format("the {} buffer of stage {}", enum_name(buffer.cls), buffer.stage);
    if (buffer.microbatch >= 0) out += fmt::format(", microbatch {}", buffer.microbatch);
    if (index_.slices > 1) out += fmt::format(", slice {}", buffer.slice);
    if (is_message(buffer.cls)) out += fmt::format(", edge {}", buffer.owner);
    return out;
  }

  static bool is_message(BufferClass cls) {
    return cls == BufferClass::SendBuffer || cls == BufferClass::ReceiveBuffer;
  }
  static std::string_view enum_name(BufferClass cls) {
    return enum_names(cls)[static_cast<std::size_t>(cls)].second;
  }

  // One block of columns for each stage or edge of this rank, made when first asked for.
  template <class T>
  T& at(std::vector<T>& table, std::vector<std::uint32_t>& block, std::size_t row,
        std::size_t column, T absent) {
    if (block[row] == kAbsent) block[row] = next_block(block);
    const std::size_t place = block[row] * columns_ + column;
    if (table.size() <= place) table.resize((block[row] + std::size_t{1}) * columns_, absent);
    return table[place];
  }
  static std::uint32_t next_block(const std::vector<std::uint32_t>& block) {
    return static_cast<std::uint32_t>(block.size()) -
           static_cast<std::uint32_t>(std::count(block.begin(), block.end(), kAbsent));
  }

  // For SENDs the position that proves their receipt, for RECVs the one from which they may write.
  void find_transfers() {
    const RankId self = rank_id(rank_);
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramIndex::Traffic& traffic = index_.traffic[e];
      if (program_.edges[e].source == program_.edges[e].destination) continue;
      const std::vector<Stream>& streams = program_.ranks[rank_].streams;
      if (program_.edges[e].source == self) {
        for (std::size_t k = 0; k < traffic.sends.size(); ++k) {
          const ProgramIndex::Transfer& send = traffic.sends[k];
          const std::size_t column = index_.column(streams[send.stream].body[send.index].key);
          std::uint32_t& last =
              at(transfers_, edge_block_, program_.send_row(e), column, kAbsent);
          if (proofs_[e][k] == kNotProven)
            unproven_.insert({program_.send_row(e), column});
          else if (last == kAbsent || last < proofs_[e][k])
            last = proofs_[e][k];
        }
      } else if (program_.edges[e].destination == self) {
        for (const ProgramIndex::Transfer& receive : traffic.receives) {
          const Instruction& instruction = streams[receive.stream].body[receive.index];
          const std::uint32_t from = receive.stream == 0             ? receive.index
                                     : instruction.after_stream == 0 ? instruction.after_index
                                                                     : 0;
          const std::size_t column = index_.column(instruction.key);
          std::uint32_t& earliest =
              at(transfers_, edge_block_, program_.receive_row(e), column, kAbsent);
          earliest = std::min(earliest, from);
          if (program_.edges[e].payload != Payload::Activation) continue;
          std::uint32_t& first = at(stash_, stage_block_, instruction.key.stage, column, kAbsent);
          first = std::min(first, from);
        }
      }
    }
  }

  void lifetime(std::size_t i) {
    const Buffer& buffer = rows_[i];
    const std::uint32_t end =
        compute().empty() ? 0 : static_cast<std::uint32_t>(compute().size() - 1);
    if (buffer.offset.value % kTensorAlignment != 0)
      refuse("R8", fmt::format("{} lies at {}, which is no multiple of {}", named(buffer),
                               buffer.offset.value, kTensorAlignment));
    if (is_persistent(buffer.cls)) {
      if (buffer.first != 0 || buffer.last != end)
        refuse("R8", fmt::format("{} is not live through the whole body", named(buffer)));
      return;
    }
    if (buffer.last > end)
      refuse("R8", fmt::format("{} lives to position {}; the body ends at {}", named(buffer),
                               buffer.last, end));
    const std::size_t column =
        static_cast<std::size_t>(buffer.microbatch) * index_.slices + buffer.slice;
    if (buffer.slice >= index_.slices)
      return refuse("R8", named(buffer) + " is of a slice that is not there");
    const bool by_edge = is_message(buffer.cls);
    const auto owner = static_cast<std::size_t>(buffer.owner);
    std::size_t stage = buffer.stage;
    if (by_edge) {
      const ProgramEdge& edge = program_.edges[owner];
      const bool sends = buffer.cls == BufferClass::SendBuffer;
      stage = (sends ? edge.from : edge.to).index();
      if ((sends ? edge.source : edge.destination).index() != rank_ || stage != buffer.stage)
        return refuse("R8", fmt::format("{} belongs to another rank or stage", named(buffer)));
      if ((sends ? edge.send_buffer : edge.receive_buffer).valid())
        return refuse("R8", fmt::format("{} is of an edge whose messages lie in that of another",
                                        named(buffer)));
      if (buffer.bytes < edge.bytes)
        refuse("R8", fmt::format("{} has {} bytes; a message has {}", named(buffer),
                                 buffer.bytes.value, edge.bytes.value));
    }
    const Cell& cell = index_.cell(index_.row_at(program_, stage, rank_id(rank_)), column);
    if (cell.rank != static_cast<std::int32_t>(rank_))
      return refuse(
          "R8", fmt::format("{} is of a microbatch that rank {} runs", named(buffer), cell.rank));
    std::int32_t& row = by_edge ? at(owned_, edge_block_, owner, column, -1)
                        : buffer.cls == BufferClass::Data
                            ? at(data_, stage_block_, stage, column, std::pair{-1, -1}).first
                            : at(data_, stage_block_, stage, column, std::pair{-1, -1}).second;
    if (std::exchange(row, static_cast<std::int32_t>(i)) >= 0)
      refuse("R8", named(buffer) + " is there twice");

    std::uint32_t first = cell.forward,
                  last = std::max(cell.first_backward(), cell.last_backward());
    switch (buffer.cls) {
      case BufferClass::Data:
        first = std::min(first, cell.load);
        break;
      case BufferClass::Stash:
        first = std::min(first, at(stash_, stage_block_, stage, column, kAbsent));
        break;
      case BufferClass::ReceiveBuffer:
        first =
            std::min(cell.first_backward(), at(transfers_, edge_block_, owner, column, kAbsent));
        break;
      default:
        if (program_.edges[owner].payload == Payload::Gradient) first = cell.first_backward();
        last = at(transfers_, edge_block_, owner, column, kAbsent);
    }
    if (first < buffer.first)
      refuse("R8",
             fmt::format("'{}' (position {}) uses {} before its lifetime, {} to {}",
                         brief(compute()[first]), first, named(buffer), buffer.first, buffer.last),
             {brief(compute()[first])});
    if (last == kNotProven)
      refuse("R9", fmt::format("nothing in the body proves that {} has been read by its SEND: a "
                               "WAIT for that SEND is missing",
                               named(buffer)));
    else if (last > buffer.last && buffer.cls == BufferClass::SendBuffer)
      refuse(
          "R9",
          fmt::format(
              "{} is released after position {}, but its SEND is sure to be over only after '{}' "
              "(position {})",
              named(buffer), buffer.last, brief(compute()[last]), last),
          {brief(compute()[last])});
    else if (last > buffer.last)
      refuse("R9",
             fmt::format("'{}' (position {}) uses {} after its release at {}",
                         brief(compute()[last]), last, named(buffer), buffer.last),
             {brief(compute()[last])});
  }

  // Of messages that are part of a buffer.
  void parts_lie_within() {
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramEdge& edge = program_.edges[e];
      for (const bool sends : {true, false}) {
        if ((sends ? edge.source : edge.destination) != rank_id(rank_)) continue;
        const std::size_t owner = sends ? program_.send_row(e) : program_.receive_row(e);
        if (edge_block_[owner] == kAbsent || owned_.empty()) continue;
        const Bytes end = (sends ? edge.send_offset : edge.receive_offset) + edge.bytes;
        for (std::size_t column = 0; column < columns_; ++column) {
          const std::int32_t row = at(owned_, edge_block_, owner, column, -1);
          if (row < 0 || rows_[static_cast<std::size_t>(row)].bytes >= end) continue;
          refuse("R8", fmt::format("a message of edge {} reaches to byte {} of {}, which has {}", e,
                                   end.value, named(rows_[static_cast<std::size_t>(row)]),
                                   rows_[static_cast<std::size_t>(row)].bytes.value));
          break;
        }
      }
    }
  }

  // A program with buffers has them for everything that is kept or loaded; one with weights or
  // message buffers for everything that is moved. (A schedule without a workload has neither weights
  // nor messages in memory, only activations.)
  void rows_for_all() {
    if (program_.buffers.empty()) return;
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramEdge& edge = program_.edges[e];
      if (!keeps_messages_ || edge.bytes.value == 0 || edge_block_[e] == kAbsent) continue;
      const bool sends = edge.source.index() == rank_;
      if (!sends && edge.payload == Payload::Activation) continue;  // received into the stash
      for (std::size_t column = 0; column < columns_; ++column) {
        if (at(transfers_, edge_block_, e, column, kAbsent) == kAbsent && !sends) continue;
        const std::size_t stage = (sends ? edge.from : edge.to).index();
        if (index_.cell(index_.row_at(program_, stage, rank_id(rank_)), column).rank !=
            static_cast<std::int32_t>(rank_))
          continue;
        if (at(owned_, edge_block_, e, column, -1) >= 0) continue;
        refuse("R8", fmt::format("microbatch {} of edge {} has no {} buffer",
                                 column / index_.slices, e, sends ? "send" : "receive"));
        break;
      }
    }
    for (const std::size_t stage : runs_[rank_]) {
      bool data = false, stash = keeps_activations_, data_gap = false, stash_gap = false;
      const std::size_t cells = index_.row_at(program_, stage, rank_id(rank_));
      for (std::size_t column = 0; column < columns_; ++column) {
        const Cell& cell = index_.cell(cells, column);
        if (cell.rank != static_cast<std::int32_t>(rank_)) continue;
        const auto [data_row, stash_row] =
            at(data_, stage_block_, stage, column, std::pair{-1, -1});
        (data_row >= 0 ? data : data_gap) = true;
        (stash_row >= 0 ? stash : stash_gap) = true;
        data = data || cell.load != kAbsent;
        stash = stash || at(stash_, stage_block_, stage, column, kAbsent) != kAbsent;
      }
      if (data && data_gap)
        refuse("R8", fmt::format("some microbatches of stage {} have no data buffer", stage));
      if (stash && stash_gap)
        refuse("R8", fmt::format("some microbatches of stage {} have no stash buffer", stage));
    }
  }

  // Buffers in the order in which they come to life; those live at once by address.
  void sweep() {
    std::vector<std::uint32_t> starts, ends;
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].bytes.value > 0) starts.push_back(i);
    ends = starts;
    std::sort(starts.begin(), starts.end(), [&](auto a, auto b) {
      return std::pair(rows_[a].first, a) < std::pair(rows_[b].first, b);
    });
    std::sort(ends.begin(), ends.end(), [&](auto a, auto b) {
      return std::pair(rows_[a].last, a) < std::pair(rows_[b].last, b);
    });
    std::set<std::pair<std::int64_t, std::uint32_t>> live;  // (offset, row)
    std::set<std::pair<std::int64_t, std::uint32_t>>::node_type spare;
    std::int64_t bytes = 0, peak = 0, top = 0;
    std::uint32_t peak_at = 0;
    std::size_t ended = 0;
    for (const std::uint32_t i : starts) {
      for (; rows_[ends[ended]].last < rows_[i].first; ++ended) {
        spare = live.extract({rows_[ends[ended]].offset.value, ends[ended]});
        bytes -= rounded(rows_[ends[ended]].bytes);
      }
      const std::pair key(rows_[i].offset.value, i);
      if (!spare.empty()) spare.value() = key;
      const auto place =
          spare.empty() ? live.insert(key).first : live.insert(std::move(spare)).position;
      if (place != live.begin()) disjoint(std::prev(place)->second, i);
      if (std::next(place) != live.end()) disjoint(i, std::next(place)->second);
      bytes += rounded(rows_[i].bytes);
      top = std::max(top, rows_[i].offset.value + rounded(rows_[i].bytes));
      if (bytes > peak) peak = bytes, peak_at = rows_[i].first;
    }
    const std::int64_t arena = program_.arena[rank_].value;
    if (top != arena)
      refuse("R8", fmt::format("buffers reach to byte {}, the arena to {}", top, arena));
    if (peak != program_.live_peak[rank_].value)
      refuse("R8", fmt::format("{} bytes are live at once at position {}; the program says {}",
                               peak, peak_at, program_.live_peak[rank_].value));
    const std::int64_t limit = program_.ranks[rank_].memory_limit.value;
    if (limit > 0 && std::max(arena, top) > limit)
      over_limit(std::max(arena, top), limit, peak, peak_at);
  }

  void disjoint(std::uint32_t lower, std::uint32_t upper) {
    if (rows_[lower].offset + rows_[lower].bytes <= rows_[upper].offset) return;
    refuse("R8", fmt::format("{} and {} are live at once at the same addresses",
                             named(rows_[lower]), named(rows_[upper])));
  }

  void over_limit(std::int64_t arena, std::int64_t limit, std::int64_t peak,
                  std::uint32_t peak_at) {
    std::map<std::pair<BufferClass, std::uint16_t>, std::pair<std::int64_t, std::size_t>>
        held;  // -> bytes, buffers
    for (const Buffer& buffer : rows_) {
      if (buffer.first > peak_at || buffer.last < peak_at) continue;
      auto& [bytes, count] = held[{buffer.cls, buffer.stage}];
      bytes += rounded(buffer.bytes);
      ++count;
    }
    std::vector<std::pair<std::int64_t, std::string>> holders;
    for (const auto& [what, sum] : held)
      holders.emplace_back(
          sum.first, fmt::format("{} {} of stage {}{}", text(Bytes(sum.first)),
                                 enum_name(what.first), what.second,
                                 sum.second > 1 ? fmt::format(" in {} buffers", sum.second) : ""));
    std::stable_sort(holders.begin(), holders.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, holders.size()); ++i)
      list += fmt::format("{}{}", i == 0 ? "" : ", ", holders[i].second);
    std::string message = fmt::format("needs {} ({} bytes), {} bytes over its limit of {}",
                                      text(Bytes(arena)), arena, arena - limit, text(Bytes(limit)));
    if (peak <= limit)
      message += fmt::format(", though no more than {} are live at once", text(Bytes(peak)));
    if (!list.empty()) message += fmt::format("; at the peak: {}", list);
    refuse("R8", std::move(message));
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  const std::size_t columns_;
  const std::vector<std::vector<std::uint32_t>> proofs_;
  const bool keeps_messages_, keeps_activations_;
  std::size_t rank_ = 0;
  std::span<const Buffer> rows_;
  std::vector<std::uint32_t> stage_block_,
      edge_block_;                    // which block of columns; kAbsent: none so far
  std::vector<std::vector<std::size_t>> runs_;  // by rank: stages that it has operations of
  std::vector<std::uint32_t> stash_;  // by stage block: first RECV into the stash
  std::vector<std::pair<std::int32_t, std::int32_t>>
      data_;                              // by stage block: rows of data and stash
  std::vector<std::uint32_t> transfers_;  // by edge block: see find_transfers
  std::set<std::pair<std::size_t, std::size_t>> unproven_;  // (edge, column) of SENDs not proven
  std::vector<std::int32_t> owned_;       // by edge block: row of the send or receive buffer
};

}  // namespace

void check_memory(const Program& program, const ProgramIndex& index, Report& report) {
  Memory memory(program, index, report);
  for (std::size_t rank = 0; rank < program.ranks.size() && !report.full(); ++rank)
    memory.check(rank);
}

}  // namespace penstock::check_rules
