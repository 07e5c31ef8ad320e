#include <algorithm>
#include <string_view>

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
          send.key.direction == receive.key.direction && send.key.network == receive.key.network &&
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
    const ProgramIndex::Cell& cell =
        index_.cell(edge().from.index(), index_.column(instruction.key));
    std::uint32_t producer = 0;
    if (edge().payload == Payload::Activation)
      producer = cell.forward;
    else if (edge().payload == Payload::Gradient)
      producer = cell.first_backward();
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
    const ProgramIndex::Cell& cell = index_.cell(edge().to.index(), index_.column(instruction.key));
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
      const bool needed = index_.cell(edge().from.index(), column).rank == edge().source.value &&
                          index_.cell(edge().to.index(), column).rank == edge().destination.value;
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
  std::size_t edge_ = 0;
};

}  // namespace

void check_messages(const Program& program, const ProgramIndex& index, Report& report) {
  Messages messages(program, index, report);
  for (std::size_t e = 0; e < program.edges.size() && !report.full(); ++e) messages.check(e);
}

}  // namespace penstock::check_rules
