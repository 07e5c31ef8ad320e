#pragma once

// Parameters of a network as the executor keeps them: initial values keyed by name, and a digest over all of them.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/workload.h"

namespace penstock {

// Element e of the parameter is a function of (seed, its name, e) alone, whoever holds it.
std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed);

// The parameters of all networks of a workload in declaration order, wherever a run keeps them. State −1 is the value,
// 0 and up are the optimizer's. `out` and `values` are as long as the parameter.
class ParameterAccess {
 public:
  virtual ~ParameterAccess() = default;
  virtual void read(std::size_t parameter, std::int32_t state, std::span<float> out) const = 0;
  virtual void write(std::size_t parameter, std::int32_t state, std::span<const float> values) = 0;
};

// Where the stages of a plan keep each parameter, in declaration order. Every layer is on a stage.
struct ParameterPlace {
  StageId stage;
  std::size_t index = 0;  // among the stage's parameters
  Bytes offset;           // in a buffer of them
};
std::vector<ParameterPlace> parameter_places(const Plan& plan);

std::vector<const Parameter*> all_parameters(const Workload& workload);

// FNV-1a (64 bits) over the parameters' bytes in declaration order, as 16 hex digits. Add them in that order.
class WeightsDigest {
 public:
  void add(const float* values, std::size_t elements);
  std::string text() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

// Of all parameters of the workload.
std::string weights_digest(const Workload& workload, const ParameterAccess& parameters);

}  // namespace penstock
