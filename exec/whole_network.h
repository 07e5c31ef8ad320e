#pragma once

// The whole of network 0 as one stage of one device, outside any program: what the reference runs and the profiler times.

#include <memory>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "exec/device.h"
#include "exec/parameters.h"

namespace penstock {

class WholeNetwork final : public ParameterAccess {
 public:
  struct Options {
    std::int64_t microbatch_size = 1;
    std::int64_t microbatches = 1;  // a step
    std::int32_t stashes = 1;       // microbatches that can be between their F and their BF at once
    std::uint64_t seed = 0;
    std::int64_t first_step = 0;    // steps done before
    bool training = true;           // false: forward and loss alone; there are no gradients and no optimizer state
    double* losses = nullptr;
    Hits* hits = nullptr;
    double* gradient_norms = nullptr;
    StepBoard* board = nullptr;
    LayerStamps* layer_stamps = nullptr;
  };

  // `workload`, `data` and `device` outlive it. Parameters hold their initial values.
  static Result<std::unique_ptr<WholeNetwork>> make(const Workload& workload, const DataSource& data, RankDevice& device,
                                                    const Options& options);

  Stage& stage() { return *stage_; }
  const StageMemoryMap& memory(std::int32_t stash) const { return maps_[static_cast<std::size_t>(stash)]; }
  Bytes memory_bytes() const { return bytes_; }

  // Where the optimizer clips: the table that update() reads, as if all gradients together had this norm. One above the limit
  // makes the next update scale its gradients, whatever they are: for timing it at its full cost. What
  // Stage::squared_norms() finds is written over.
  void write_norm(double norm);

  // Parameters count in declaration order.
  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override;
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override;

 private:
  explicit WholeNetwork(RankDevice& device) : device_(device) {}
  std::byte* address(std::size_t parameter, std::int32_t state) const;

  RankDevice& device_;
  std::vector<Bytes> offsets_;  // of parameters, in their buffers
  Bytes parameter_bytes_;       // of one such buffer
  std::unique_ptr<Stage> stage_;
  std::vector<StageMemoryMap> maps_;
  Bytes bytes_;
};

}  // namespace penstock
