#include <algorithm>
#include <limits>

#include "planner/bounds/chains.h"

namespace penstock {

Bound division_bound(const BoundProblem& problem) {
  const std::vector<StageTimes>& layers = *problem.layers;
  const std::size_t n = layers.size();
  const std::size_t ranks = std::min(n, static_cast<std::size_t>(problem.ranks));
  const Chains chains = chains_from_first(problem);

  // [stages][first]: the least longest stage of the layers from `first` on in at most so many
  // stages.
  std::vector<std::int64_t> value((ranks + 1) * (n + 1), std::numeric_limits<std::int64_t>::max());
  for (std::size_t s = 0; s <= ranks; ++s) value[s * (n + 1) + n] = 0;
  for (std::size_t first = n; first-- > 0;) {
    std::int64_t work = 0, step = 0, head = -1, tail = -1;
    for (std::size_t last = first; last < n; ++last) {
      const StageTimes& times = layers[last];
      work += problem.microbatches * (times.order_forward() + times.backward()).value;
      step += times.step.value;
      for (const LayerId input : problem.network->layers[last].inputs) {
        if (input.index() >= first) continue;
        head = std::max(head, chains.forward[input.index()]);
        tail = std::max(tail, chains.backward[input.index()]);
      }
      std::int64_t stage = work + step;
      if (head >= 0) stage = std::max(stage, head + work + tail + layers[0].step.value);
      for (std::size_t s = 1; s <= ranks; ++s) {
        std::int64_t& known = value[s * (n + 1) + first];
        known = std::min(known, std::max(stage, value[(s - 1) * (n + 1) + last + 1]));
      }
    }
  }
  return {"division", seconds(Nanoseconds(value[ranks * (n + 1)]))};
}

}  // namespace penstock
