#pragma once

// The kernels of one stage on one device, and the calls prepared from them. A call is made once, when a program is loaded,
// with every address fixed; launching it costs a few stores.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "core/stage_layout.h"
#include "core/workload.h"
#include "exec/losses.h"

namespace penstock {

class DataSource;
class StepBoard;

// Start and end of one launch, on the clock that all ranks of a run share.
struct Stamp {
  Nanoseconds start, end;
};

// Where one microbatch of one stage finds its memory. Null where the stage has none of a kind.
struct StageMemoryMap {
  std::byte* weights = nullptr;
  std::byte* gradients = nullptr;
  std::byte* optimizer = nullptr;
  std::byte* workspace = nullptr;
  std::byte* data = nullptr;
  std::byte* stash = nullptr;
  // One double a parameter of the whole network, in declaration order: the sum of squares of its gradient. Null unless the
  // optimizer clips. A stage writes its own parameters' entries; update() reads all.
  double* squared_norms = nullptr;
  std::vector<std::byte*> activation_send;   // one an out edge of the layout
  std::vector<std::byte*> gradient_receive;  // one an out edge
  std::vector<std::byte*> gradient_send;     // one an in edge
};

// When the layers of a stage ran, for the profiler: each call overwrites the parts it runs.
struct LayerStamps {
  Stamp forward, backward_input, backward_weight;  // a loss layer's forward is its loss
  Stamp squared_norms, update;  // of layers without parameters as well: next to nothing
};

// A prepared piece of work. What it does is its backend's business.
class StageCall {
 public:
  virtual ~StageCall() = default;
};

struct StageRequest {
  const Workload* workload = nullptr;
  NetworkId network{0};
  std::vector<LayerId> layers;
  StageLayout layout;
  std::int64_t microbatch_size = 1;  // samples of a microbatch that this copy of the stage works on
  std::int64_t microbatches = 1;     // a step
  // Where copies share microbatches: samples of a whole one (0: microbatch_size), and which of them are this copy's.
  std::int64_t whole_microbatch = 0, first_sample = 0;
  const DataSource* data = nullptr;
  // Steps done before this run. What a call is launched with counts from the start of the run; data and learning rates go by
  // the step in all of training, the sum of the two.
  std::int64_t first_step = 0;
  bool training = true;  // false: forward and loss alone, with running statistics where there are any
  // losses[(step · microbatches + microbatch) · loss_copies + loss_copy]: written by the loss call. Null on stages without a
  // loss. Copies that share microbatches each have a part of their losses.
  double* losses = nullptr;
  std::int64_t loss_copies = 1, loss_copy = 0;
  // Of losses over classes, where somebody asks: loss calls add to it.
  Hits* hits = nullptr;
  // gradient_norms[step]: written by update() of a stage with a loss where the optimizer clips. May be null.
  double* gradient_norms = nullptr;
  StepBoard* board = nullptr;  // update() reports to it; may be null
  LayerStamps* layer_stamps = nullptr;  // one a layer, or null: nobody asks
};

class Stage {
 public:
  virtual ~Stage() = default;

  // Library scratch beyond the layout's workspace; it lies right behind it.
  virtual Bytes scratch_bytes() const = 0;
  // Of that, what one layer's calls need.
  virtual Bytes layer_scratch(std::size_t layer) const = 0;

  virtual std::unique_ptr<StageCall> load(const StageMemoryMap& memory, std::int32_t microbatch) = 0;
  virtual std::unique_ptr<StageCall> forward(const StageMemoryMap& memory, std::int32_t microbatch) = 0;
  // Again the forward of StageLayout::recomputed, from what was kept; the backward of the microbatch follows at once.
  virtual std::unique_ptr<StageCall> recompute(const StageMemoryMap& memory, std::int32_t microbatch) = 0;
  virtual std::unique_ptr<StageCall> loss(const StageMemoryMap& memory, std::int32_t microbatch) = 0;
  // Each layer's weight gradient, then its input gradient, from the last layer to the first.
  virtual std::unique_ptr<StageCall> backward(const StageMemoryMap& memory, std::int32_t microbatch) = 0;
  // A part of that: of the stage's layers [first, end). Parts follow one another from the last layers to the first, with
  // nothing else of the stage between them.
  virtual std::unique_ptr<StageCall> backward_part(const StageMemoryMap& memory, std::int32_t microbatch,
                                                   std::size_t first, std::size_t end) = 0;
  // Where the optimizer clips: StageMemoryMap::squared_norms of this stage's parameters, 0 for those that are not trained.
  // After the last backward (and whatever adds up gradients of replicas), before update().
  virtual std::unique_ptr<StageCall> squared_norms(const StageMemoryMap& memory) = 0;
  // Moves the weights and clears the gradients. Where the optimizer clips, squared_norms of all stages are there.
  virtual std::unique_ptr<StageCall> update(const StageMemoryMap& memory) = 0;
};

}  // namespace penstock
