#include <algorithm>

#include "planner/bounds/chains.h"

namespace penstock {
namespace {

Nanoseconds whole(const StageTimes& times) {
  return times.order_forward() + times.backward();
}

}  // namespace

Chains chains_from_first(const BoundProblem& problem) {
  const std::vector<StageTimes>& times = *problem.layers;
  Chains chains;
  chains.forward.assign(times.size(), -1);
  chains.backward.assign(times.size(), -1);
  for (std::size_t l = 0; l < times.size(); ++l) {
    std::int64_t forward = l == 0 ? 0 : -1, backward = forward;
    for (const LayerId input : problem.network->layers[l].inputs) {
      forward = std::max(forward, chains.forward[input.index()]);
      backward = std::max(backward, chains.backward[input.index()]);
    }
    if (forward < 0) continue;
    chains.forward[l] = forward + times[l].order_forward().value;
    chains.backward[l] = backward + times[l].backward().value;
  }
  return chains;
}

Bound work_bound(const BoundProblem& problem) {
  Nanoseconds work;
  for (const StageTimes& times : *problem.layers)
    work += problem.microbatches * whole(times) + times.step;
  return {"work", seconds(work) / problem.ranks};
}

Bound longest_layer_bound(const BoundProblem& problem) {
  Nanoseconds longest;
  for (const StageTimes& times : *problem.layers)
    longest = std::max(longest, problem.microbatches * whole(times) + times.step);
  return {"longest layer", seconds(longest)};
}

Bound fill_and_drain_bound(const BoundProblem& problem) {
  const std::vector<StageTimes>& layers = *problem.layers;
  const Chains chains = chains_from_first(problem);
  Nanoseconds longest;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (chains.forward[l] < 0) continue;
    const std::int64_t head = chains.forward[l] - layers[l].order_forward().value;
    const std::int64_t tail = chains.backward[l] - layers[l].backward().value;
    longest = std::max(longest, Nanoseconds(head + tail) + problem.microbatches * whole(layers[l]) +
                                    layers[0].step);
  }
  return {"fill and drain", seconds(longest)};
}

}  // namespace penstock
