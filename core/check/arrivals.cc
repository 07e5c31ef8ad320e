// R3 and R8 of the edges between two stages together: everything that crosses reaches every copy that
// reads it, and messages that are parts of one buffer lie where their samples and tensors do.

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

using Between = std::tuple<Payload, StageId, StageId>;

bool crosses(const ProgramEdge& edge) {
  return edge.kind == DependencyKind::Data &&
         (edge.payload == Payload::Activation || edge.payload == Payload::Gradient);
}

std::map<Between, std::vector<std::size_t>> edges_between(const Program& program) {
  std::map<Between, std::vector<std::size_t>> out;
  for (std::size_t e = 0; e < program.edges.size(); ++e)
    if (crosses(program.edges[e]))
      out[{program.edges[e].payload, program.edges[e].from, program.edges[e].to}].push_back(e);
  return out;
}

// What one edge between two stages carries has to reach every copy of the later one: each microbatch
// that a copy runs on another rank than the stage before does. That the samples then are complete is
// another rule.
class Arrivals {
 public:
  Arrivals(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {}

  void check(const Between& between, const std::vector<std::size_t>& edges) {
    const StageId from = std::get<1>(between), to = std::get<2>(between);
    const std::size_t columns = index_.microbatches * index_.slices;
    std::map<LayerId, std::size_t> tensors;
    for (const std::size_t e : edges)
      for (const LayerId tensor : tensors_of(program_.edges[e])) tensors.emplace(tensor, 0);
    std::size_t count = 0;
    for (auto& [tensor, place] : tensors) place = count++;
    const std::size_t first = index_.first_row[to.index()], end = index_.first_row[to.index() + 1];
    std::vector<bool> there((end - first) * count * columns, false);
    for (const std::size_t e : edges) {
      const ProgramEdge& edge = program_.edges[e];
      const std::size_t row = index_.row_at(program_, to.index(), edge.destination) - first;
      for (const ProgramIndex::Transfer& send : index_.traffic[e].sends) {
        const std::size_t column = index_.column(program_.ranks[edge.source.index()]
                                                     .streams[send.stream]
                                                     .body[send.index]
                                                     .key);
        for (const LayerId tensor : tensors_of(edge))
          there[(row * count + tensors[tensor]) * columns + column] = true;
      }
    }
    for (std::size_t row = first; row < end; ++row)
      for (const auto& [tensor, place] : tensors)
        for (std::size_t column = 0; column < columns; ++column) {
          if (there[((row - first) * count + place) * columns + column]) continue;
          const std::int32_t rank = index_.cell(row, column).rank;
          if (is_made_on(from, column, rank)) continue;
          report_.add("R3",
                      fmt::format("microbatch {} of stage {} on rank {} lacks {}stage {}'s {}: no "
                                  "edge brings it there",
                                  column / index_.slices, to.value, rank,
                                  tensor.valid() ? fmt::format("layer {} of ", tensor.value) : "",
                                  from.value,
                                  std::get<0>(between) == Payload::Activation ? "activation"
                                                                              : "gradient"),
                      {RankId(rank)});
          return;
        }
  }

 private:
  static std::vector<LayerId> tensors_of(const ProgramEdge& edge) {
    return edge.tensors.empty() ? std::vector<LayerId>{LayerId()} : edge.tensors;
  }
  bool is_made_on(StageId stage, std::size_t column, std::int32_t rank) const {
    for (std::size_t row = index_.first_row[stage.index()];
         row < index_.first_row[stage.index() + 1]; ++row)
      if (index_.cell(row, column).rank == rank) return true;
    return false;
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
};

// What goes one way comes back the other: of the same tensors and samples, in as many bytes.
void check_returns(const Program& program, Report& report) {
  const auto key = [](const ProgramEdge& edge, bool turned) {
    return std::tuple((edge.payload == Payload::Gradient) != turned, turned ? edge.to : edge.from,
                      turned ? edge.from : edge.to, turned ? edge.destination : edge.source,
                      turned ? edge.source : edge.destination, edge.first_sample, edge.samples,
                      edge.bytes, edge.tensors);
  };
  std::map<decltype(key(program.edges[0], false)), std::size_t> there;
  for (const ProgramEdge& edge : program.edges)
    if (crosses(edge)) ++there[key(edge, false)];
  for (std::size_t e = 0; e < program.edges.size(); ++e) {
    const ProgramEdge& edge = program.edges[e];
    if (!crosses(edge)) continue;
    const auto back = there.find(key(edge, true));
    if (back != there.end() && back->second == there[key(edge, false)]) continue;
    const bool gradient = edge.payload == Payload::Gradient;
    return report.add(
        "R3",
        fmt::format("edge {} takes {} of stage {} on rank {} to stage {} on rank {}, and no edge of the "
                    "same tensors, samples and bytes {}",
                    e, gradient ? "gradients" : "activations", edge.from.value, edge.source.value,
                    edge.to.value, edge.destination.value,
                    gradient ? "took their activations there" : "brings their gradients back"),
        {edge.source, edge.destination});
  }
}

// Where a message lies at one of its ends: tensors one after the other, each on a 64-byte boundary
// with all samples of that end, samples as rows.
//
//   an end with samples 2 to 4 of tensors 7 (100 B a sample) and 9 (8 B):  7 at 0 … 300, 9 at 320 … 344;
//   samples 3 and 4 of tensor 9 begin at 320 + (3 − 2) · 8 = 328
class Parts {
 public:
  Parts(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program),
        index_(index),
        report_(report),
        keeps_messages_(std::any_of(program.buffers.begin(), program.buffers.end(),
                                    [](const Buffer& buffer) {
                                      return buffer.cls == BufferClass::SendBuffer ||
                                             buffer.cls == BufferClass::ReceiveBuffer;
                                    })) {}

  void check(const std::vector<std::size_t>& edges) {
    std::map<std::pair<bool, RankId>, std::vector<std::size_t>> ends;
    for (const std::size_t e : edges) {
      ends[{true, program_.edges[e].source}].push_back(e);
      ends[{false, program_.edges[e].destination}].push_back(e);
    }
    for (const auto& [end, of] : ends) at_end(end.first, end.second, of);
  }

 private:
  struct Tensor {
    std::int64_t sample = 0, begin = 0;  // bytes
  };

  void at_end(bool sends, RankId rank, const std::vector<std::size_t>& edges) {
    const ProgramEdge& any = program_.edges[edges.front()];
    const StageId stage = sends ? any.from : any.to;
    const ProgramIndex::Row& row = index_.rows[index_.row_at(program_, stage.index(), rank)];
    const std::int64_t first = row.samples > 0 ? row.first_sample : 0;
    const std::int64_t samples = row.samples > 0 ? row.samples : program_.microbatch_size;
    std::map<LayerId, Tensor> tensors;
    std::int64_t end = 0;
    for (const std::size_t e : edges) {
      const ProgramEdge& edge = program_.edges[e];
      if (is_whole(edge)) {
        end = std::max(end, edge.bytes.value);
        continue;
      }
      Tensor& tensor = tensors[edge.tensors.empty() ? LayerId() : edge.tensors.front()];
      const std::int64_t sample = edge.bytes.value / edge.samples;
      if (edge.tensors.size() > 1 || edge.bytes.value % edge.samples != 0 ||
          (tensor.sample != 0 && tensor.sample != sample))
        return refuse(rank, fmt::format("edge {} carries {} samples in {} bytes of {} tensors: a "
                                        "part of a microbatch is rows of one tensor",
                                        e, edge.samples, edge.bytes.value, edge.tensors.size()));
      tensor.sample = sample;
    }
    std::int64_t next = 0;
    for (auto& [layer, tensor] : tensors) {
      tensor.begin = next;
      next += align_up(Bytes(samples * tensor.sample), kTensorAlignment).value;
    }
    for (const std::size_t e : edges) {
      const ProgramEdge& edge = program_.edges[e];
      std::int64_t begin = 0;
      if (!is_whole(edge)) {
        const Tensor& tensor = tensors[edge.tensors.empty() ? LayerId() : edge.tensors.front()];
        begin = tensor.begin + (edge.first_sample - first) * tensor.sample;
      }
      const std::int64_t claimed = (sends ? edge.send_offset : edge.receive_offset).value;
      if (claimed == begin) continue;
      return refuse(rank, fmt::format("a message of edge {} is {} byte {} of its buffer; its samples "
                                      "begin at {}",
                                      e, sends ? "sent from" : "received at", claimed, begin));
    }
    if (!sends && any.payload == Payload::Activation && keeps_messages_)
      in_stash(stage, rank, std::max(end, next));
  }

  // Whether a message holds all samples of both its ends.
  bool is_whole(const ProgramEdge& edge) const {
    if (edge.samples == 0) return true;
    const auto has_all = [&](StageId stage, RankId rank) {
      const ProgramIndex::Row& row = index_.rows[index_.row_at(program_, stage.index(), rank)];
      return row.samples > 0 ? row.first_sample == edge.first_sample && row.samples == edge.samples
                             : edge.samples == program_.microbatch_size;
    };
    return has_all(edge.from, edge.source) && has_all(edge.to, edge.destination);
  }

  void in_stash(StageId stage, RankId rank, std::int64_t end) {
    for (const Buffer& buffer : program_.buffers_of(rank)) {
      if (buffer.cls != BufferClass::Stash || buffer.stage != stage.index() ||
          buffer.bytes.value >= end)
        continue;
      return refuse(rank, fmt::format("messages to stage {} reach to byte {} of the stash of "
                                      "microbatch {}, which has {}",
                                      stage.value, end, buffer.microbatch, buffer.bytes.value));
    }
  }

  void refuse(RankId rank, const std::string& what) {
    report_.add("R8", fmt::format("rank {}: {}", rank.value, what), {rank});
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  const bool keeps_messages_;  // a schedule without a workload has no messages in memory
};

}  // namespace

void check_arrivals(const Program& program, const ProgramIndex& index, Report& report) {
  check_returns(program, report);
  Arrivals arrivals(program, index, report);
  Parts parts(program, index, report);
  for (const auto& [between, edges] : edges_between(program)) {
    if (report.full()) return;
    arrivals.check(between, edges);
    parts.check(edges);
  }
}

}  // namespace penstock::check_rules
