#pragma once

// The oracle for plans whose stages have replicas: their shapes and accumulation trees on one device, stage by stage and copy
// by copy, one operation at a time. No program, no streams, no messages: samples are copied one by one to whoever reads them.

#include <memory>
#include <span>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "core/timeline.h"
#include "exec/data_source.h"
#include "exec/device.h"
#include "exec/parameters.h"
#include "exec/training.h"

namespace penstock {

class ReplicatedNetwork final : public ParameterAccess {
 public:
  // All outlive it. `training`: where losses and norms go, and to whom steps are reported.
  static Result<std::unique_ptr<ReplicatedNetwork>> make(const Plan& plan, const DataSource& data, RankDevice& device,
                                                         std::uint64_t seed, Training& training);
  ~ReplicatedNetwork() override;

  // One step of training: microbatches in ascending order, each forward and backward through all stages; then the copies of
  // each stage add up their gradients, copy 0 + copy 1 + …, and all are stepped.
  // What takes time is added to the spans of `timeline`, on track 0.
  Result<void> step(std::int32_t step, Timeline& timeline);

  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override;
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override;
  Bytes memory_bytes() const { return bytes_; }

 private:
  struct Copy;
  ReplicatedNetwork(const Plan& plan, RankDevice& device);
  Result<void> perform(StageCall& call, std::int32_t step);
  Result<void> perform(Op op, const Copy& copy, StageCall& call, std::int32_t step, std::int32_t microbatch,
                       Timeline& timeline);
  Result<void> pass(std::int32_t step, std::int32_t microbatch, bool forward, Timeline& timeline);
  void bring(Copy& to, std::int32_t microbatch, bool forward);
  void add_up();
  Result<void> take_norms(std::int32_t step);
  static std::byte* address(const ParameterPlace& place, std::int32_t state, const Copy& copy);

  const Plan& plan_;
  RankDevice& device_;
  StreamHandle stream_;
  std::vector<ParameterPlace> places_;                     // of parameters
  std::vector<std::int32_t> order_;                        // stages, each after those it reads from
  std::vector<std::vector<std::unique_ptr<Copy>>> copies_;  // by stage
  Bytes bytes_;
  // On their way from one copy to others.
  std::vector<std::byte> sample_;
  std::vector<float> sum_, term_;
};

}  // namespace penstock
