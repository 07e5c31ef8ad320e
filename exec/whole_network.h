#pragma once

// The whole of network 0 as one stage of one device, outside any program: what the reference runs and the profiler times.

#include <memory>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "exec/device.h"

namespace penstock {

class WholeNetwork {
 public:
  struct Options {
    std::int64_t microbatch_size = 1;
    std::int64_t microbatches = 1;  // a step
    std::int32_t stashes = 1;       // microbatches that can be between their F and their BF at once
    std::uint64_t seed = 0;
    double* losses = nullptr;
    LayerStamps* layer_stamps = nullptr;
  };

  // `workload`, `data` and `device` outlive it. Parameters hold their initial values.
  static Result<std::unique_ptr<WholeNetwork>> make(const Workload& workload, const DataSource& data, RankDevice& device,
                                                    const Options& options);

  Stage& stage() { return *stage_; }
  const StageMemoryMap& memory(std::int32_t stash) const { return maps_[static_cast<std::size_t>(stash)]; }
  Bytes memory_bytes() const { return bytes_; }

  // All parameters in declaration order.
  std::string weights_digest() const;

 private:
  WholeNetwork(const Workload& workload, RankDevice& device) : workload_(workload), device_(device) {}

  const Workload& workload_;
  RankDevice& device_;
  std::unique_ptr<Stage> stage_;
  std::vector<StageMemoryMap> maps_;
  Bytes bytes_;
};

}  // namespace penstock
