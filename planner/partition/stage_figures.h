#pragma once

// Time and bytes of a contiguous range of layers as a stage, grown layer by layer: what the dynamic
// program over divisions asks for n²/2 ranges. Sums are exact; what depends on how the other layers
// are divided is taken at its least.

#include <cstdint>
#include <vector>

#include "core/workload.h"
#include "models/costs/cost_table.h"

namespace penstock {

struct StageFigures {
  Nanoseconds compute;  // of a microbatch: load, forward, loss, both backwards; and of those
                        // recomputed layers that their own or a reader's backward asks for, R
  Nanoseconds step;     // of an update
  Nanoseconds before;   // compute of all layers before the range
  Bytes parameters;     // of core/stage_layout, exactly
  Bytes stash, data;    // likewise
  Bytes workspace;      // at most core/stage_layout's, and the largest library scratch behind it
  // Activations that come in, each tensor once; also the gradients that go out.
  Bytes received;
  // Activations that later layers read, each tensor once, though every stage that reads it is sent
  // a copy; also the gradients that come in.
  Bytes sent;
};

// figures() is of the layers [first, end). Layers of network 0.
//
//   StageGrower range(workload, costs);
//   range.start(j);
//   while (range.end() < n) { range.extend(); use(range.figures()); }
//
// O(1) a start, O(inputs of the layer) an extension.
class StageGrower {
 public:
  // Both must outlive this.
  StageGrower(const Workload& workload, const CostTable& costs);

  void start(std::int32_t first);  // the empty range [first, first)
  void extend();                   // [first, end) -> [first, end + 1)
  std::int32_t first() const { return first_; }
  std::int32_t end() const { return end_; }
  const StageFigures& figures() const { return figures_; }
  std::int32_t layers() const { return static_cast<std::int32_t>(layers_.size()); }

 private:
  struct LayerFacts {
    std::vector<std::int32_t> inputs;   // distinct
    std::vector<std::int32_t> sources;  // likewise
    std::int32_t last_reader = -1;      // -1: nobody reads it
    bool keeps_inputs = false;          // its backward runs and reads its inputs again
    bool recomputed = false;            // keeps nothing in the stash
    bool has_gradient = false;          // it is a loss or leads to one
    Nanoseconds compute, again, step;   // again: of the recomputed, the forward
    Bytes size, saved, parameters, scratch;  // aligned
  };

  Bytes gradients_at(std::int32_t layer) const;
  void keep(std::size_t producer);

  std::vector<LayerFacts> layers_;
  std::vector<Bytes> source_sizes_;
  std::vector<Nanoseconds> before_;  // [l]: compute of the layers before l
  std::int32_t first_ = 0, end_ = 0;
  StageFigures figures_;
  Bytes remade_, gradients_, scratch_;  // the three parts of the workspace
  std::vector<std::int32_t>
      received_in_;  // by layer: the start in which it was last counted, in received, in kept
  std::vector<std::int32_t> kept_in_, source_in_;
  std::int32_t round_ = 0;
};

}  // namespace penstock
