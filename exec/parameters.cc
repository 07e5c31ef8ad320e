#include "exec/parameters.h"

#include <fmt/core.h>

#include <cstring>
#include <map>

#include "core/random.h"
#include "core/stage_layout.h"

namespace penstock {

std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(parameter.elements()));
  switch (parameter.initializer) {
    case Initializer::Zeros: break;
    case Initializer::Ones: values.assign(values.size(), 1.0f); break;
    case Initializer::Normal: {
      const std::uint64_t key = combine(seed, hash(parameter.name));
      for (std::size_t e = 0; e < values.size(); ++e) {
        values[e] = static_cast<float>(parameter.deviation * normal(combine(key, e)));
      }
      break;
    }
  }
  return values;
}

void WeightsDigest::add(const float* values, std::size_t elements) {
  // Four bytes a round: a float's bits are one unit here, and nothing else reads the digest.
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    state_ = (state_ ^ bits) * 0x100000001b3u;
  }
}

std::string WeightsDigest::text() const { return fmt::format("{:016x}", state_); }

std::vector<ParameterPlace> parameter_places(const Plan& plan) {
  std::map<std::pair<NetworkId, LayerId>, std::vector<ParameterPlace>> by_layer;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    const Network& network = plan.workload.networks[stage.network.index()];
    const std::vector<Bytes> offsets = parameter_offsets(network, stage.layers);
    std::size_t index = 0;
    for (const LayerId layer : stage.layers) {
      std::vector<ParameterPlace>& places = by_layer[{stage.network, layer}];
      for (std::size_t p = 0; p < network.layers[layer.index()].parameters.size(); ++p, ++index) {
        places.push_back({StageId(static_cast<std::int64_t>(s)), index, offsets[index]});
      }
    }
  }
  std::vector<ParameterPlace> out;  // the map's order is that of declaration
  for (const auto& [layer, places] : by_layer) out.insert(out.end(), places.begin(), places.end());
  return out;
}

std::vector<const Parameter*> all_parameters(const Workload& workload) {
  std::vector<const Parameter*> out;
  for (const Network& network : workload.networks) {
    for (const Layer& layer : network.layers) {
      for (const Parameter& parameter : layer.parameters) out.push_back(&parameter);
    }
  }
  return out;
}

std::string weights_digest(const Workload& workload, const ParameterAccess& parameters) {
  const std::vector<const Parameter*> all = all_parameters(workload);
  WeightsDigest digest;
  std::vector<float> values;
  for (std::size_t p = 0; p < all.size(); ++p) {
    values.resize(static_cast<std::size_t>(all[p]->elements()));
    parameters.read(p, -1, values);
    digest.add(values.data(), values.size());
  }
  return digest.text();
}

}  // namespace penstock
