#include "planner/copy_edges.h"

#include <algorithm>

#include "core/replicas.h"
#include "core/stage_layout.h"

namespace penstock {
namespace {

// One end of the messages of an edge of the plan: a copy, its samples, and where its tensors lie.
struct End {
  StageId stage;
  std::int32_t copy;
  RankId rank;
  SampleRange samples;
  std::vector<Bytes> offsets;
};

class Builder {
 public:
  explicit Builder(const Plan& plan) : plan_(plan) {
    for (const PlanStage& stage : plan.stages)
      out_.of.emplace_back(static_cast<std::size_t>(stage.replicas));
  }

  CopyEdges build() {
    for (const bool forward : {true, false})
      for (const PlanEdge& edge : plan_.edges) {
        is_forward_ = forward;
        edge_ = &edge;
        first_ = out_.edges.size();
        add_edge();
      }
    for (std::size_t e = 0; e < out_.edges.size(); ++e) enter(e);
    return std::move(out_);
  }

 private:
  End end_of(StageId stage, std::int32_t copy) const {
    const PlanStage& row = plan_.stages[stage.index()];
    const SampleRange samples = samples_of(plan_, stage, copy);
    return {stage, copy, row.devices[static_cast<std::size_t>(copy)], samples,
            tensor_offsets(plan_.workload.networks[row.network.index()], edge_->tensors,
                           samples.count)};
  }

  void add_edge() {
    const std::vector<Meeting> pairs = meetings(plan_, edge_->from, edge_->to);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Meeting& pair = pairs[i];
      const End from = end_of(is_forward_ ? edge_->from : edge_->to,
                              is_forward_ ? pair.from : pair.to);
      const End to = end_of(is_forward_ ? edge_->to : edge_->from,
                            is_forward_ ? pair.to : pair.from);
      const auto time = [&](Bytes bytes) {
        if (edge_->hops.empty()) return is_forward_ ? edge_->activation : edge_->gradient;
        const ReplicaHop& hop = edge_->hops[i];
        return is_forward_ ? transfer_time(hop.latency, hop.bandwidth, bytes)
                           : transfer_time(hop.back_latency, hop.back_bandwidth, bytes);
      };
      if (pair.whole) {
        ProgramEdge& edge = add(from, to, pair.samples);
        edge.tensors = edge_->tensors;
        edge.bytes = from.offsets.back();
        out_.times.push_back(time(edge.bytes));
        continue;
      }
      const Network& network =
          plan_.workload.networks[plan_.stages[from.stage.index()].network.index()];
      for (std::size_t t = 0; t < edge_->tensors.size(); ++t) {
        const Bytes sample = network.layers[edge_->tensors[t].index()].output.bytes();
        ProgramEdge& edge = add(from, to, pair.samples);
        edge.tensors = {edge_->tensors[t]};
        edge.bytes = pair.samples.count * sample;
        edge.send_offset = from.offsets[t] + (pair.samples.first - from.samples.first) * sample;
        edge.receive_offset = to.offsets[t] + (pair.samples.first - to.samples.first) * sample;
        out_.times.push_back(time(edge.bytes));
      }
    }
  }

  ProgramEdge& add(const End& from, const End& to, SampleRange samples) {
    const std::size_t e = out_.edges.size();
    ProgramEdge& edge = out_.edges.emplace_back();
    edge.from = from.stage;
    edge.to = to.stage;
    edge.source = from.rank;
    edge.destination = to.rank;
    edge.payload = is_forward_ ? Payload::Activation : Payload::Gradient;
    if (samples.count < plan_.microbatch_size) {
      edge.first_sample = samples.first;
      edge.samples = samples.count;
    }
    out_.from_copy.push_back(from.copy);
    out_.to_copy.push_back(to.copy);
    out_.send_bytes.push_back(from.offsets.back());
    out_.receive_bytes.push_back(to.offsets.back());
    // The first edge of this edge of the plan with the same copy at an end has the rows there.
    for (std::size_t other = first_; other < e; ++other) {
      if (out_.from_copy[other] == from.copy && !edge.send_buffer.valid())
        edge.send_buffer = EdgeId(static_cast<std::int64_t>(other));
      if (out_.to_copy[other] == to.copy && !edge.receive_buffer.valid() && !is_forward_)
        edge.receive_buffer = EdgeId(static_cast<std::int64_t>(other));
    }
    return edge;
  }

  void enter(std::size_t e) {
    const ProgramEdge& edge = out_.edges[e];
    const bool forward = edge.payload == Payload::Activation;
    CopyEdges::OfCopy& from =
        out_.of[edge.from.index()][static_cast<std::size_t>(out_.from_copy[e])];
    CopyEdges::OfCopy& to = out_.of[edge.to.index()][static_cast<std::size_t>(out_.to_copy[e])];
    CopyEdges::Ends& sends = forward ? from.activations_out : from.gradients_out;
    CopyEdges::Ends& receives = forward ? to.activations_in : to.gradients_in;
    const auto id = static_cast<std::int32_t>(e);
    sends.edges.push_back(id);
    receives.edges.push_back(id);
    if (!edge.send_buffer.valid()) sends.owners.push_back(id);
    if (!edge.receive_buffer.valid()) receives.owners.push_back(id);
  }

  const Plan& plan_;
  CopyEdges out_;
  bool is_forward_ = true;
  const PlanEdge* edge_ = nullptr;
  std::size_t first_ = 0;  // program edge of the edge of the plan at hand
};

}  // namespace

CopyEdges copy_edges(const Plan& plan) {
  return Builder(plan).build();
}

}  // namespace penstock
