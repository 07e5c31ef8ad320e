#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

class Messages {
 public:
  Messages(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {}

  void check(std::size_t e) {
    edge_ = e;
    from_row_ = index_.row_at(program_, edge().from.index(), edge().source);
    to_row_ = index_.row_at(program_, edge().to.index(), edge().destination);
    const ProgramIndex::Traffic& traffic = index_.traffic[e];
    if (traffic.sends.empty() && traffic.receives.empty()) {
      nothing_missing({});
      return;
    }
    if (edge().source == edge().destination)
      return refuse("R3", fmt::format("edge {} stays on rank {}, yet it has transfers", e,
                                      edge().source.value));
    if (!one_stream(traffic.sends, edge().source, "SENDs") ||
        !one_stream(traffic.receives, edge().destination, "RECVs"))
      return;
    pairs(traffic);
    sizes(traffic);
    for (const ProgramIndex::Transfer& send : traffic.sends) after_its_producer(send);
    for (const ProgramIndex::Transfer& receive : traffic.receives) before_its_use(receive);
    nothing_missing(traffic.sends);
  }

 private:
  const ProgramEdge& edge() const { return program_.edges[edge_]; }
  const Instruction& at(RankId rank, const ProgramIndex::Transfer& transfer) const {
    return program_.ranks[rank.index()].streams[transfer.stream].body[transfer.index];
  }
  const Instruction& sent(const ProgramIndex::Transfer& transfer) const {
    return at(edge().source, transfer);
  }
  const Instruction& received(const ProgramIndex::Transfer& transfer) const {
    return at(edge().destination, transfer);
  }

  void refuse(std::string_view rule, std::string message,
              std::vector<std::string> instructions = {}) {
    report_.add(rule, std::move(message), {edge().source, edge().destination},
                std::move(instructions));
  }

  // Where the ends have a different number of copies, or share out microbatches otherwise, the copies
  // are those that the stores of the two ranks name (R2).
  bool copies_differ() const {
    const auto has_store = [&](StageId stage, RankId rank) {
      return std::any_of(program_.stores.begin(), program_.stores.end(),
                         [&](const ProgramStore& store) {
                           return store.stage == stage && store.rank == rank;
                         });
    };
    return has_store(edge().from, edge().source) && has_store(edge().to, edge().destination);
  }

  // The k-th SEND is a matter of one stream's order; between streams there is none.
  bool one_stream(const std::vector<ProgramIndex::Transfer>& transfers, RankId rank,
                  std::string_view kind) {
    for (const ProgramIndex::Transfer& transfer : transfers) {
      if (transfer.stream == transfers.front().stream) continue;
      refuse(
          "R3",
          fmt::format(
              "the {} of edge {} are spread over streams {} and {} of rank {}: their order is open",
              kind, edge_, transfers.front().stream, transfer.stream, rank.value));
      return false;
    }
    return true;
  }

  void pairs(const ProgramIndex::Traffic& traffic) {
    if (traffic.sends.size() != traffic.receives.size())
      refuse("R3", fmt::format("edge {} has {} SENDs on rank {} and {} RECVs on rank {}", edge_,
                               traffic.sends.size(), edge().source.value, traffic.receives.size(),
                               edge().destination.value));
    for (std::size_t k = 0; k < std::min(traffic.sends.size(), traffic.receives.size()); ++k) {
      const Instruction& send = sent(traffic.sends[k]);
      const Instruction& receive = received(traffic.receives[k]);
      const bool same =
          send.key.microbatch == receive.key.microbatch && send.key.slice == receive.key.slice &&
          (copies_differ() || send.key.direction == receive.key.direction) &&
          send.key.network == receive.key.network &&
          send.key.step + edge().distance == receive.key.step;
      if (same) continue;
      // All that follow are off too; one is enough to say so.
      return refuse(
          "R3",
          fmt::format("message {} of edge {}: rank {} sends '{}', rank {} receives '{}'", k, edge_,
                      edge().source.value, brief(send), edge().destination.value, brief(receive)),
          {brief(send), brief(receive)});
    }
  }

  void sizes(const ProgramIndex::Traffic& traffic) {
    for (const bool sends : {true, false}) {
      for (const ProgramIndex::Transfer& transfer : sends ? traffic.sends : traffic.receives) {
        const Instruction& instruction = sends ? sent(transfer) : received(transfer);
        if (instruction.recipe < 0) continue;
        for (const Segment& segment :
             program_.recipes[static_cast<std::size_t>(instruction.recipe)].segments) {
          if (segment.kind != SegmentKind::Transfer || segment.bytes == edge().bytes) continue;
          return refuse(
              "R3",
              fmt::format("'{}' moves {} bytes; a message of edge {} has {}", brief(instruction),
                          segment.bytes.value, edge_, edge().bytes.value),
              {brief(instruction)});
        }
      }
    }
  }

  void after_its_producer(const ProgramIndex::Transfer& send) {
    const Instruction& instruction = sent(send);
    const ProgramIndex::Cell& cell = index_.cell(from_row_, index_.column(instruction.key));
    std::uint32_t producer = 0;
    if (edge().payload == Payload::Activation)
      producer = cell.forward;
    else if (edge().payload == Payload::Gradient)
      producer = cell.input_gradient();
    else
      return;
    if (producer < send.compute) return;
    const Instruction& compute = program_.ranks[edge().source.index()].streams[0].body[producer];
    refuse("R4",
           fmt::format("rank {}: '{}' may start before '{}', which makes what it sends",
                       edge().source.value, brief(instruction), brief(compute)),
           {brief(instruction), brief(compute)});
  }

  void before_its_use(const ProgramIndex::Transfer& receive) {
    const Instruction& instruction = received(receive);
    const ProgramIndex::Cell& cell = index_.cell(to_row_, index_.column(instruction.key));
    std::uint32_t use = 0;
    if (edge().payload == Payload::Activation)
      use = cell.forward;
    else if (edge().payload == Payload::Gradient)
      use = cell.first_backward();
    else
      return;
    if (receive.compute != kAbsent && receive.compute <= use) return;
    const Instruction& compute = program_.ranks[edge().destination.index()].streams[0].body[use];
    refuse("R4",
           fmt::format("rank {}: '{}' may start before '{}' has brought what it reads",
                       edge().destination.value, brief(compute), brief(instruction)),
           {brief(compute), brief(instruction)});
  }

  // Every microbatch that both ends of the edge work on crosses it once.
  void nothing_missing(const std::vector<ProgramIndex::Transfer>& sends) {
    const bool crosses =
        edge().kind == DependencyKind::Data && edge().source != edge().destination &&
        (edge().payload == Payload::Activation || edge().payload == Payload::Gradient);
    if (!crosses) return;
    std::vector<bool> there(index_.microbatches * index_.slices, false);
    for (const ProgramIndex::Transfer& send : sends) {
      const Instruction& instruction = sent(send);
      const std::size_t column = index_.column(instruction.key);
      if (there[column])
        return refuse("R3", fmt::format("'{}' is sent twice", brief(instruction)),
                      {brief(instruction)});
      there[column] = true;
    }
    for (std::size_t column = 0; column < there.size(); ++column) {
      const bool needed = index_.cell(from_row_, column).rank == edge().source.value &&
                          index_.cell(to_row_, column).rank == edge().destination.value;
      if (needed == there[column]) continue;
      return refuse(
          "R3",
          fmt::format("microbatch {} {} edge {}, from stage {} on rank {} to stage {} on rank {}",
                      column / index_.slices, needed ? "has no SEND on" : "does not belong on",
                      edge_, edge().from.value, edge().source.value, edge().to.value,
                      edge().destination.value));
    }
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  std::size_t edge_ = 0, from_row_ = 0, to_row_ = 0;
};

// Where copies share microbatches: what reaches a copy makes up its samples, each once. Edges that
// serve other microbatches are told apart by the first one they carry.
class Samples {
 public:
  Samples(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {}

  void check() {
    for (std::size_t e = 0; e < program_.edges.size(); ++e) {
      const ProgramEdge& edge = program_.edges[e];
      const std::vector<ProgramIndex::Transfer>& sends = index_.traffic[e].sends;
      if (sends.empty() || edge.kind != DependencyKind::Data) continue;
      const auto& [from, from_end] = samples_of(edge.from, edge.source);
      const Part part{edge.samples > 0 ? edge.first_sample : 0,
                      edge.samples > 0 ? edge.first_sample + edge.samples
                                       : program_.microbatch_size,
                      e};
      if (part.first < from || part.end > from_end)
        report_.add("R3",
                    fmt::format("edge {} carries samples {} to {}, of which rank {} has {} to {}",
                                e, part.first, part.end - 1, edge.source.value, from, from_end - 1),
                    {edge.source});
      const Instruction& first = program_.ranks[edge.source.index()]
                                     .streams[sends.front().stream]
                                     .body[sends.front().index];
      const std::vector<LayerId> none = {LayerId()};
      for (const LayerId tensor : edge.tensors.empty() ? none : edge.tensors)
        parts_[{edge.payload, edge.from, edge.to, edge.destination, tensor, first.key.microbatch}]
            .push_back(part);
    }
    for (auto& [to, parts] : parts_) make_up(std::get<2>(to), std::get<3>(to), parts);
  }

 private:
  struct Part {
    std::int64_t first, end;
    std::size_t edge;
  };

  std::pair<std::int64_t, std::int64_t> samples_of(StageId stage, RankId rank) const {
    const ProgramIndex::Row& row = index_.rows[index_.row_at(program_, stage.index(), rank)];
    return row.samples > 0 ? std::pair(row.first_sample, row.first_sample + row.samples)
                           : std::pair(std::int64_t{0}, program_.microbatch_size);
  }

  void make_up(StageId stage, RankId rank, std::vector<Part>& parts) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return std::pair(a.first, a.edge) < std::pair(b.first, b.edge);
    });
    const auto& [first, end] = samples_of(stage, rank);
    std::int64_t next = first;
    for (const Part& part : parts) {
      if (part.first != next) break;
      next = part.end;
    }
    if (next == end && parts.back().end == end) return;
    std::string list;
    for (const Part& part : parts)
      list += fmt::format("{}{} to {} on edge {}", list.empty() ? "" : ", ", part.first,
                          part.end - 1, part.edge);
    report_.add("R3",
                fmt::format("rank {} needs samples {} to {} of what stage {} reads or has back; it "
                            "receives {}",
                            rank.value, first, end - 1, stage.value, list),
                {rank});
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  std::map<std::tuple<Payload, StageId, StageId, RankId, LayerId, std::int32_t>, std::vector<Part>>
      parts_;
};

}  // namespace

void check_messages(const Program& program, const ProgramIndex& index, Report& report) {
  Messages messages(program, index, report);
  for (std::size_t e = 0; e < program.edges.size() && !report.full(); ++e) messages.check(e);
  const bool shares = std::any_of(program.edges.begin(), program.edges.end(),
                                  [](const ProgramEdge& edge) { return edge.samples > 0; }) ||
                      index.rows.size() > index.stages;
  if (shares) Samples(program, index, report).check();
}

}  // namespace penstock::check_rules
