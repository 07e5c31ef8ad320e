#include "core/stage_layout.h"

#include <algorithm>
#include <iterator>

#include "core/footprint.h"
#include "core/layout.h"
#include "core/replicas.h"

namespace penstock {
namespace {

Bytes aligned(Bytes bytes) {
  return align_up(bytes, kTensorAlignment);
}

// Who reads each layer's output, ascending, each reader once; and which outputs have a gradient.
class Readers {
 public:
  explicit Readers(const Network& network)
      : first_(network.layers.size() + 1, 0), wanted_(network.layers.size(), false) {
    const std::size_t count = network.layers.size();
    const auto each = [&](auto&& visit) {
      for (std::size_t reader = 0; reader < count; ++reader) {
        const std::vector<LayerId>& inputs = network.layers[reader].inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i)
          if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i),
                        inputs[i]) == inputs.begin() + static_cast<std::ptrdiff_t>(i))
            visit(inputs[i].index(), reader);
      }
    };
    each([&](std::size_t producer, std::size_t) { ++first_[producer + 1]; });
    for (std::size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
    of_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), std::prev(first_.end()));
    each([&](std::size_t producer, std::size_t reader) {
      of_[next[producer]++] = LayerId(static_cast<std::int64_t>(reader));
    });

    const bool has_loss = std::any_of(network.layers.begin(), network.layers.end(),
                                      [](const Layer& l) { return l.is_loss(); });
    for (std::size_t i = count; i-- > 0;) {
      wanted_[i] = has_loss ? network.layers[i].is_loss() : true;
      for (const LayerId reader : of(LayerId(static_cast<std::int64_t>(i))))
        if (wanted_[reader.index()]) wanted_[i] = true;
    }
  }

  std::span<const LayerId> of(LayerId layer) const {
    return std::span(of_).subspan(first_[layer.index()],
                                  first_[layer.index() + 1] - first_[layer.index()]);
  }
  // Whether a layer's backward runs: it is a loss or lies on a path to one.
  bool wanted(LayerId layer) const { return wanted_[layer.index()]; }

 private:
  std::vector<std::size_t> first_;
  std::vector<LayerId> of_;
  std::vector<bool> wanted_;
};

// What an out edge takes, and the last of its readers there whose backward sends a gradient.
struct Taken {
  std::int32_t out_edge;
  Bytes offset;
  LayerId last_reader;  // invalid: no gradient comes back
};

class StageBuilder {
 public:
  StageBuilder(const Workload& workload, NetworkId network,
               const std::vector<std::vector<LayerId>>& stages, const std::vector<PlanEdge>& edges,
               StageId stage, std::int64_t microbatch, const std::vector<LayerId>& recompute)
      : workload_(workload),
        network_(workload.networks[network.index()]),
        stages_(stages),
        edges_(edges),
        stage_(stage),
        microbatch_(microbatch),
        readers_(network_),
        stage_of_(network_.layers.size(), -1),
        position_(network_.layers.size(), -1),
        value_(network_.layers.size()),
        received_gradient_(network_.layers.size()),
        taken_(network_.layers.size()),
        recompute_(network_.layers.size(), false) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const LayerId layer : stages[s]) stage_of_[layer.index()] = static_cast<std::int32_t>(s);
    const std::vector<LayerId>& mine = stages[stage.index()];
    for (std::size_t i = 0; i < mine.size(); ++i)
      position_[mine[i].index()] = static_cast<std::int32_t>(i);
    for (const LayerId layer : recompute) {
      PENSTOCK_CHECK(is_mine(layer) && !at(layer).is_loss(),
                     "a stage recomputes layers of its own, and never a loss");
      recompute_[layer.index()] = true;
    }
  }

  StageLayout build() {
    for (const LayerId layer : mine()) out_.layers.emplace_back().layer = layer;
    place_sources();
    place_edges();
    place_values();
    place_gradients();
    const std::vector<Bytes> offsets = parameter_offsets(network_, mine());
    std::size_t next = 0;
    for (const LayerId layer : mine())
      for (const Parameter& parameter : at(layer).parameters)
        out_.parameters =
            offsets[next++] + aligned(Bytes(parameter.elements() * size_of(DataType::F32)));
    return std::move(out_);
  }

 private:
  const std::vector<LayerId>& mine() const { return stages_[stage_.index()]; }
  const Layer& at(LayerId layer) const { return network_.layers[layer.index()]; }
  bool is_mine(LayerId layer) const { return position_[layer.index()] >= 0; }
  Bytes size(LayerId layer) const { return aligned(microbatch_ * at(layer).output.bytes()); }
  LayerPlacement& placement(LayerId layer) {
    return out_.layers[static_cast<std::size_t>(position_[layer.index()])];
  }

  void place_sources() {
    for (const LayerId layer : mine())
      out_.sources.insert(out_.sources.end(), at(layer).sources.begin(), at(layer).sources.end());
    std::sort(out_.sources.begin(), out_.sources.end());
    out_.sources.erase(std::unique(out_.sources.begin(), out_.sources.end()), out_.sources.end());
    for (const SourceId source : out_.sources) {
      out_.data.push_back(out_.data_bytes);
      out_.data_bytes += aligned(microbatch_ * workload_.sources[source.index()].sample.bytes());
    }
  }

  void place_edges() {
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const PlanEdge& edge = edges_[e];
      if (edge.to == stage_) {
        Bytes offset;
        for (const LayerId tensor : edge.tensors) {
          value_[tensor.index()] = {Region::Stash, -1, out_.stash + offset};
          received_gradient_[tensor.index()] = {
              Region::Send, static_cast<std::int32_t>(out_.in_edges.size()), offset};
          offset += size(tensor);
        }
        out_.in_edges.push_back(static_cast<std::int32_t>(e));
        out_.received.push_back(out_.stash);
        out_.stash += aligned(std::max(offset, edge.bytes));
      }
      if (edge.from == stage_) {
        Bytes offset;
        for (const LayerId tensor : edge.tensors) {
          Taken taken{static_cast<std::int32_t>(out_.out_edges.size()), offset, LayerId()};
          for (const LayerId reader : readers_.of(tensor))
            if (stage_of_[reader.index()] == edge.to.value && readers_.wanted(reader))
              taken.last_reader = reader;
          taken_[tensor.index()].push_back(taken);
          offset += size(tensor);
        }
        out_.out_edges.push_back(static_cast<std::int32_t>(e));
      }
    }
  }

  // Which of this stage's values outlive the forward: those that a backward reads again, and those
  // that a recomputed layer starts from.
  std::vector<bool> kept_values(const std::vector<BackwardNeeds>& needs) const {
    std::vector<bool> kept(mine().size(), false);
    for (std::size_t i = 0; i < mine().size(); ++i) {
      const LayerId layer = mine()[i];
      const bool reread = needs[i].inputs && readers_.wanted(layer);
      for (const LayerId input : at(layer).inputs) {
        const bool restart = recompute_[layer.index()] && !recompute_[input.index()];
        if (is_mine(input) && (reread || restart))
          kept[static_cast<std::size_t>(position_[input.index()])] = true;
      }
    }
    return kept;
  }

  // From the last layer to the first: a backward needs what it left, or one already listed reads it.
  void list_recomputed(const std::vector<BackwardNeeds>& needs, const std::vector<bool>& kept) {
    std::vector<bool> again(mine().size(), false);
    for (std::size_t i = mine().size(); i-- > 0;) {
      const LayerId layer = mine()[i];
      if (!recompute_[layer.index()]) continue;
      again[i] = again[i] || kept[i] || (needs[i].saved.value > 0 && readers_.wanted(layer));
      if (!again[i]) continue;
      out_.recomputed.push_back(layer);
      for (const LayerId input : at(layer).inputs)
        if (is_mine(input)) again[static_cast<std::size_t>(position_[input.index()])] = true;
    }
    std::reverse(out_.recomputed.begin(), out_.recomputed.end());
  }

  void place_values() {
    std::vector<BackwardNeeds> needs;
    std::vector<TensorShape> shapes;
    for (const LayerId layer : mine()) {
      shapes.clear();
      for (const LayerId input : at(layer).inputs) shapes.push_back(at(input).output);
      needs.push_back(backward_needs(at(layer), shapes, microbatch_));
    }
    const std::vector<bool> kept = kept_values(needs);
    list_recomputed(needs, kept);
    const auto runs_again = [&](LayerId layer) {
      return std::binary_search(out_.recomputed.begin(), out_.recomputed.end(), layer);
    };

    // Positions: layers in their order, then the copies to send buffers, then the losses.
    const auto copies = static_cast<std::uint32_t>(mine().size());
    const auto when = [&](LayerId layer) {
      return at(layer).is_loss() ? copies + 1
                                 : static_cast<std::uint32_t>(position_[layer.index()]);
    };
    std::vector<Lifetime> lives;
    std::vector<LayerId> lodgers;
    for (std::size_t i = 0; i < mine().size(); ++i) {
      const LayerId layer = mine()[i];
      Home& home = value_[layer.index()];
      const std::vector<Taken>& taken = taken_[layer.index()];
      // What outlives the forward: in the stash, or where R will make it again.
      const bool again = recompute_[layer.index()];
      Bytes& end = again ? remade_ : out_.stash;
      const Region region = again ? Region::Workspace : Region::Stash;
      if (kept[i]) {
        home = {region, -1, end};
        end += size(layer);
      } else if (taken.size() == 1 && !runs_again(layer)) {
        home = {Region::Send, taken.front().out_edge, taken.front().offset};
      } else {
        home.region = Region::Workspace;
        Lifetime life{when(layer), when(layer), size(layer)};
        for (const LayerId reader : readers_.of(layer))
          if (is_mine(reader)) life.last = std::max(life.last, when(reader));
        if (!taken.empty()) life.last = std::max(life.last, copies);
        lives.push_back(life);
        lodgers.push_back(layer);
      }
      if (needs[i].saved.value > 0) out_.layers[i].saved = {region, -1, end};
      end += aligned(needs[i].saved);
    }
    const Layout layout = lay_out(lives);
    for (std::size_t i = 0; i < lodgers.size(); ++i)
      value_[lodgers[i].index()].offset = remade_ + layout.offsets[i];
    out_.workspace = std::max(out_.workspace, remade_ + layout.peak);

    for (LayerPlacement& placement : out_.layers) {
      placement.output = value_[placement.layer.index()];
      for (const LayerId input : at(placement.layer).inputs)
        placement.inputs.push_back(value_[input.index()]);
      for (const Taken& taken : taken_[placement.layer.index()]) {
        const Home to{Region::Send, taken.out_edge, taken.offset};
        if (placement.output != to)
          out_.forward_copies.push_back(
              {placement.output, to, microbatch_ * at(placement.layer).output.bytes(),
               at(placement.layer).output.type});
      }
    }
  }

  // Gradients of this stage's tensors that later stages send back: the first to arrive in the sum
  // is the home of the rest.
  void start_from_later_stages(std::vector<bool>& started) {
    for (LayerPlacement& placement : out_.layers) {
      std::vector<Taken> taken = taken_[placement.layer.index()];
      std::erase_if(taken, [](const Taken& t) { return !t.last_reader.valid(); });
      std::sort(taken.begin(), taken.end(),
                [](const Taken& a, const Taken& b) { return a.last_reader > b.last_reader; });
      for (const Taken& part : taken) {
        const Home home{Region::Receive, part.out_edge, part.offset};
        if (started[placement.layer.index()]) {
          out_.gradient_sums.push_back(
              {home, placement.output_gradient, microbatch_ * at(placement.layer).output.bytes(),
               at(placement.layer).output.type});
        } else {
          placement.output_gradient = home;
          started[placement.layer.index()] = true;
        }
      }
    }
  }

  void place_gradients() {
    std::vector<bool> started(network_.layers.size(), false);
    start_from_later_stages(started);

    // Positions: the layers in descending order. A gradient in the workspace lives from its first
    // contribution to the backward of the layer whose output it belongs to.
    const auto when = [&](LayerId layer) {
      return static_cast<std::uint32_t>(mine().size()) - 1 -
             static_cast<std::uint32_t>(position_[layer.index()]);
    };
    std::vector<Lifetime> lives;
    std::vector<LayerId> lodgers;
    for (std::size_t i = mine().size(); i-- > 0;) {
      LayerPlacement& reader = out_.layers[i];
      const std::vector<LayerId>& inputs = at(reader.layer).inputs;
      reader.input_gradients.resize(inputs.size());
      reader.adds_to_input.resize(inputs.size(), false);
      if (!readers_.wanted(reader.layer)) continue;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const LayerId input = inputs[k];
        reader.adds_to_input[k] = started[input.index()];
        if (!started[input.index()] && is_mine(input)) {
          placement(input).output_gradient = {Region::Workspace, -1, Bytes(0)};
          lives.push_back({when(reader.layer), when(input), size(input)});
          lodgers.push_back(input);
        }
        started[input.index()] = true;
      }
    }
    const Layout layout = lay_out(lives);
    for (std::size_t i = 0; i < lodgers.size(); ++i)
      placement(lodgers[i]).output_gradient.offset = remade_ + layout.offsets[i];
    out_.workspace = std::max(out_.workspace, remade_ + layout.peak);

    for (LayerPlacement& reader : out_.layers) {
      if (!readers_.wanted(reader.layer)) continue;
      for (std::size_t k = 0; k < reader.input_gradients.size(); ++k) {
        const LayerId input = at(reader.layer).inputs[k];
        reader.input_gradients[k] =
            is_mine(input) ? placement(input).output_gradient : received_gradient_[input.index()];
      }
    }
  }

  const Workload& workload_;
  const Network& network_;
  const std::vector<std::vector<LayerId>>& stages_;
  const std::vector<PlanEdge>& edges_;
  const StageId stage_;
  const std::int64_t microbatch_;
  const Readers readers_;
  std::vector<std::int32_t> stage_of_;     // by layer
  std::vector<std::int32_t> position_;     // by layer: among this stage's; -1: elsewhere
  std::vector<Home> value_;                // by layer
  std::vector<Home> received_gradient_;    // by layer, of tensors that came in over an edge
  std::vector<std::vector<Taken>> taken_;  // by layer: the out edges that take its output
  std::vector<bool> recompute_;            // by layer
  Bytes remade_;                           // end of the values at the bottom of the workspace that R makes
  StageLayout out_;
};

}  // namespace

std::vector<Bytes> parameter_offsets(const Network& network, const std::vector<LayerId>& layers) {
  std::vector<Bytes> offsets;
  Bytes end;
  for (const LayerId layer : layers) {
    for (const Parameter& parameter : network.layers[layer.index()].parameters) {
      offsets.push_back(end);
      end += aligned(Bytes(parameter.elements() * size_of(DataType::F32)));
    }
  }
  return offsets;
}

StageLayout lay_out_stage(const Workload& workload, NetworkId network,
                          const std::vector<std::vector<LayerId>>& stages,
                          const std::vector<PlanEdge>& edges, StageId stage,
                          std::int64_t microbatch_size, const std::vector<LayerId>& recompute) {
  return StageBuilder(workload, network, stages, edges, stage, microbatch_size, recompute).build();
}

std::vector<Bytes> tensor_offsets(const Network& network, const std::vector<LayerId>& tensors,
                                  std::int64_t samples) {
  std::vector<Bytes> offsets = {Bytes(0)};
  for (const LayerId tensor : tensors)
    offsets.push_back(offsets.back() +
                      aligned(samples * network.layers[tensor.index()].output.bytes()));
  return offsets;
}

StageLayout lay_out_stage(const Plan& plan, StageId stage) {
  return lay_out_stage(plan, stage, 0);  // the first copies take the largest parts
}

StageLayout lay_out_stage(const Plan& plan, StageId stage, std::int32_t copy) {
  const NetworkId network = plan.stages[stage.index()].network;
  std::vector<std::vector<LayerId>> stages(
      plan.stages.size());  // those of other networks stay empty
  for (std::size_t s = 0; s < stages.size(); ++s)
    if (plan.stages[s].network == network) stages[s] = plan.stages[s].layers;
  const std::vector<LayerId>& recompute = plan.stages[stage.index()].recompute;
  const std::int64_t samples = samples_of(plan, stage, copy).count;
  if (samples == plan.microbatch_size)
    return lay_out_stage(plan.workload, network, stages, plan.edges, stage, samples, recompute);
  std::vector<PlanEdge> edges = plan.edges;
  for (PlanEdge& edge : edges)
    edge.bytes =
        tensor_offsets(plan.workload.networks[network.index()], edge.tensors, samples).back();
  return lay_out_stage(plan.workload, network, stages, edges, stage, samples, recompute);
}

}  // namespace penstock
