#pragma once

// Parameters of a network as the executor keeps them: initial values keyed by name, and a digest over all of them.

#include <cstdint>
#include <string>
#include <vector>

#include "core/workload.h"

namespace penstock {

// Element e of the parameter is a function of (seed, its name, e) alone, whoever holds it.
std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

// FNV-1a (64 bits) over the parameters' bytes in declaration order, as 16 hex digits. Add them in that order.
class WeightsDigest {
 public:
  void add(const float* values, std::size_t elements);
  std::string text() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace penstock
