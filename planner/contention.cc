#include "planner/contention.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/replicas.h"
#include "models/costs/flops.h"
#include "models/costs/work_class.h"

namespace penstock {
namespace {

struct Piece {
  WorkClass work;
  Nanoseconds duration;
};

// What the operations of one stage are made of.
class StagePieces {
 public:
  StagePieces(const Plan& plan, const PlanStage& stage)
      : plan_(plan),
        stage_(stage),
        network_(plan.workload.networks[stage.network.index()]),
        times_(layer_times_at(plan, largest_part(plan, stage))) {
    for (const LayerId layer : stage.layers)
      classes_.push_back(layer_classes(plan.workload, network_.layers[layer.index()],
                                       input_shapes(network_, layer), largest_part(plan, stage),
                                       plan.contention->private_cache));
  }

  // Of the stage's layers [first, end).
  std::vector<Piece> of(Op op, std::size_t first, std::size_t end) const {
    std::vector<Piece> pieces;
    if (times_ == nullptr || times_->size() != network_.layers.size()) return pieces;
    const bool descends = is_backward(op) || op == Op::W;
    for (std::size_t i = first; i < end; ++i)
      add(op, descends ? first + end - 1 - i : i, pieces);
    return pieces;
  }

 private:
  void add(Op op, std::size_t l, std::vector<Piece>& pieces) const {
    const LayerId layer = stage_.layers[l];
    const StageTimes& time = (*times_)[layer.index()];
    const LayerClasses& work = classes_[l];
    const auto put = [&](WorkClass of, Nanoseconds duration) {
      if (duration.value > 0) pieces.push_back({of, duration});
    };
    switch (op) {
      case Op::Load:
        return put(work.load, time.load);
      case Op::F:
        return put(work.forward, time.forward);
      case Op::Loss:
        return put(work.forward, time.loss);
      case Op::R:
        if (std::binary_search(stage_.recompute.begin(), stage_.recompute.end(), layer))
          put(work.forward, time.recompute);
        return;
      case Op::Step:
        return put(work.step, time.step);
      default:
        if (op != Op::B) put(work.backward_weight, time.backward_weight);
        if (op != Op::W) put(work.backward_input, time.backward_input);
    }
  }

  const Plan& plan_;
  const PlanStage& stage_;
  const Network& network_;
  const std::vector<StageTimes>* times_;
  std::vector<LayerClasses> classes_;
};

void divide(Recipe& recipe, const std::vector<Piece>& pieces) {
  Nanoseconds sum;
  std::array<Nanoseconds, kWorkClasses> by_class{};
  for (const Piece& piece : pieces) {
    sum += piece.duration;
    by_class[static_cast<std::size_t>(piece.work)] += piece.duration;
  }
  Segment whole = recipe.segments.front();
  if (sum != whole.duration) {
    const auto most = std::max_element(by_class.begin(), by_class.end()) - by_class.begin();
    recipe.segments.front().work = static_cast<WorkClass>(most);
    return;
  }
  if (pieces.empty()) return;
  recipe.segments.clear();
  for (const Piece& piece : pieces) {
    if (!recipe.segments.empty() && recipe.segments.back().work == piece.work) {
      recipe.segments.back().duration += piece.duration;
      continue;
    }
    whole.work = piece.work;
    whole.duration = piece.duration;
    recipe.segments.push_back(whole);
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
