#include "planner/contention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "core/replicas.h"
#include "models/costs/flops.h"
#include "models/costs/memory_share.h"

namespace penstock {
namespace {

// Neighbours whose shares differ by less become one segment: fewer events, the same sum.
constexpr double kAlike = 0.05;

struct Piece {
  double memory_share;
  Nanoseconds duration;
};

// What the operations of one stage are made of.
class StagePieces {
 public:
  StagePieces(const Plan& plan, const PlanStage& stage)
      : stage_(stage), times_(layer_times_at(plan, largest_part(plan, stage))) {
    const Network& network = plan.workload.networks[stage.network.index()];
    if (times_ != nullptr && times_->size() != network.layers.size()) times_ = nullptr;
    if (times_ == nullptr) return;
    for (const LayerId layer : stage.layers)
      shares_.push_back(memory_shares(plan.workload, network.layers[layer.index()],
                                      input_shapes(network, layer), largest_part(plan, stage),
                                      (*times_)[layer.index()], *plan.contention));
  }

  // Of the stage's layers [first, end).
  std::vector<Piece> of(Op op, std::size_t first, std::size_t end) const {
    std::vector<Piece> pieces;
    if (times_ == nullptr) return pieces;
    const bool descends = is_backward(op) || op == Op::W;
    for (std::size_t i = first; i < end; ++i)
      add(op, descends ? first + end - 1 - i : i, pieces);
    return pieces;
  }

 private:
  void add(Op op, std::size_t l, std::vector<Piece>& pieces) const {
    const LayerId layer = stage_.layers[l];
    const StageTimes& time = (*times_)[layer.index()];
    const MemoryShares& share = shares_[l];
    const auto put = [&](double memory_share, Nanoseconds duration) {
      if (duration.value > 0) pieces.push_back({memory_share, duration});
    };
    switch (op) {
      case Op::Load:
        return put(share.load, time.load);
      case Op::F:
        return put(share.forward, time.forward);
      case Op::Loss:
        return put(share.forward, time.loss);
      case Op::R:
        if (std::binary_search(stage_.recompute.begin(), stage_.recompute.end(), layer))
          put(share.forward, time.recompute);
        return;
      case Op::Step:
        return put(share.step, time.step);
      default:
        if (op != Op::B) put(share.backward_weight, time.backward_weight);
        if (op != Op::W) put(share.backward_input, time.backward_input);
    }
  }

  const PlanStage& stage_;
  const std::vector<StageTimes>* times_;  // of all layers; null where the plan has none
  std::vector<MemoryShares> shares_;      // one a layer of the stage
};

// As long as all, their shares weighted by their lengths; in thousandths.
Piece together(std::span<const Piece> pieces) {
  Nanoseconds sum;
  double memory = 0;
  for (const Piece& piece : pieces) {
    sum += piece.duration;
    memory += piece.memory_share * static_cast<double>(piece.duration.value);
  }
  return {std::round(memory / static_cast<double>(sum.value) * 1000) / 1000, sum};
}

void divide(Recipe& recipe, std::span<const Piece> pieces) {
  if (pieces.empty()) return;
  Segment whole = recipe.segments.front();
  const Piece sum = together(pieces);
  if (sum.duration != whole.duration) {
    recipe.segments.front().memory_share = sum.memory_share;
    return;
  }
  recipe.segments.clear();
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t end = first + 1;
    while (end < pieces.size() &&
           std::abs(pieces[end].memory_share - pieces[first].memory_share) < kAlike)
      ++end;
    const Piece piece = together(pieces.subspan(first, end - first));
    whole.memory_share = piece.memory_share;
    whole.duration = piece.duration;
    recipe.segments.push_back(whole);
    first = end;
  }
}

}  // namespace

void carry_contention(Plan& plan, const CostTable& costs) {
  if (!costs.contention) return;
  std::map<HostId, std::int64_t> ranks_on;
  for (const PlanDevice& device : plan.devices)
    ++ranks_on[plan.cluster.devices[device.device.index()].host];
  std::int64_t most = 0;
  for (const auto& [host, ranks] : ranks_on) most = std::max(most, ranks);
  if (most < 2) return;
  // Replicas add up gradients while they compute.
  const std::int64_t at_once = is_replicated(plan) ? 2 * most : most;
  const Contention& contention = *costs.contention;
  if (contention.slows() || (contention.cores > 0 && contention.cores < at_once))
    plan.contention = contention;
}

void add_contention(const Plan& plan, Program& program) {
  if (!plan.contention) return;
  program.contention = plan.contention;
  for (RankProgram& rank : program.ranks)
    rank.host = plan.cluster.devices[rank.device.index()].host;
  std::vector<StagePieces> stages;
  for (const PlanStage& stage : plan.stages) stages.emplace_back(plan, stage);
  std::vector<bool> is_divided(program.recipes.size());
  for (const RankProgram& rank : program.ranks)
    for (const Instruction& instruction : rank.streams.front().body) {
      if (instruction.recipe < 0) continue;
      const auto r = static_cast<std::size_t>(instruction.recipe);
      Recipe& recipe = program.recipes[r];
      if (is_divided[r] || recipe.segments.front().kind != SegmentKind::Compute) continue;
      is_divided[r] = true;
      const Segment& segment = recipe.segments.front();
      const std::size_t layers = plan.stages[instruction.key.stage].layers.size();
      const auto first = static_cast<std::size_t>(segment.first_layer);
      const std::size_t end =
          segment.end_layer > 0 ? static_cast<std::size_t>(segment.end_layer) : layers;
      divide(recipe, stages[instruction.key.stage].of(instruction.key.op, first, end));
    }
}

}  // namespace penstock
