#pragma once

// Where each tensor of a stage lives while one microbatch passes through it: the one place where planner (bytes), lowering
// (buffers) and executor (addresses) agree. A pure function of the network, the division into stages and the microbatch.
//
//   forward   received tensors lie in the stash, where RECV puts them; the output of a layer lies in the stash if a
//             backward pass of this stage reads it again, in the send buffer if exactly one edge takes it and no backward
//             of this stage reads it, else in the workspace; what an edge takes from elsewhere is copied at the end of F.
//             Loss layers run after that, in LOSS, which follows F at once; their backward is part of BF like any other.
//   backward  the gradient of a tensor that leaves over an edge starts as the received gradient and lies in that receive
//             buffer; of a tensor that came in over an edge, in that edge's gradient send buffer; else in the workspace.
//             Contributions are added from the last consumer to the first, those of later stages before those of this one.
//             A stage that reads a tensor several times sends the sum of its contributions, so the whole is the same sum as
//             on one stage, bit for bit, unless it has three or more terms and a middle stage sends the sum of two of them.
//
//   recompute layers listed so keep neither output nor `saved` in the stash. What backward reads of them lies at the bottom
//             of the workspace, where F leaves it and R, right before the backward, makes it anew from what was kept: the
//             received tensors and what such layers read of the others. R runs those of them that a backward needs.
//
// Only layers on a path to the loss have gradients; without a loss layer every layer has (its sinks stand for the loss).
//
// Example, x --LN--> n --Linear--> y --Add(x, y)--> z on one stage with x received: x, n in the stash (LN and Linear read
// them again), y in the workspace, z in the send buffer. Backward: dz in the receive buffer, Add writes it to dx (gradient
// send buffer) and dy (workspace), Linear writes dn (workspace), LN adds to dx.

#include <vector>

#include "core/plan.h"
#include "core/workload.h"

namespace penstock {

enum class Region : std::uint8_t { None, Stash, Workspace, Send, Receive };

// A place in a region. `edge`, for Send and Receive, counts within the stage's lists:
//   of a value     Send: the activation send buffer of out_edges[edge]
//   of a gradient  Send: the gradient send buffer of in_edges[edge];  Receive: the receive buffer of out_edges[edge]
struct Home {
  Region region = Region::None;
  std::int32_t edge = -1;
  Bytes offset;

  bool operator==(const Home&) const = default;
};

struct LayerPlacement {
  LayerId layer;
  std::vector<Home> inputs;           // one a Layer::inputs entry: where forward and (in the stash) backward find the value
  Home output;                        // value
  Home saved;                         // backward_needs().saved: in the stash or, of a recomputed layer, the workspace
  Home output_gradient;               // finished when this layer's backward runs; None: a loss, or no path to one
  std::vector<Home> input_gradients;  // one an input: where this layer's contribution goes; None: wants none
  std::vector<bool> adds_to_input;    // whether it adds to what is there (true) or is the first to write (false)
};

struct EdgeCopy {
  Home from;  // value in stash or workspace; gradient in a receive buffer
  Home to;    // its place in a send buffer; the gradient's home
  Bytes bytes;
  DataType type = DataType::F32;
};

struct StageLayout {
  std::vector<std::int32_t> in_edges, out_edges;  // indices into the plan's edges, ascending
  std::vector<Bytes> received;                    // one an in edge: offset of its payload in the stash
  std::vector<LayerPlacement> layers;             // ascending
  std::vector<LayerId> recomputed;                // ascending: whose forward R runs again
  std::vector<EdgeCopy> forward_copies;           // at the end of F
  // Gradients that out edges received beyond the first for the same tensor are added to its home, in this order, before
  // the layers' backward passes. (A tensor that one later stage reads has none.)
  std::vector<EdgeCopy> gradient_sums;
  std::vector<Bytes> data;                        // one a source that enters the stage: offset in the data buffer
  std::vector<SourceId> sources;                  // which those are, ascending
  Bytes stash, workspace, data_bytes;             // sizes; workspace without library scratch
  Bytes parameters;                               // of the whole stage, each parameter 64-byte aligned
};

// Offsets of each parameter of the stage (layers ascending, parameters in declaration order) in its weights buffer; the
// gradients buffer has the same shape. So has each state of the optimizer; its buffer holds the first states of all parameters,
// then the second ones: state k of a parameter lies at k · StageLayout::parameters + its offset.
std::vector<Bytes> parameter_offsets(const Network& network, const std::vector<LayerId>& layers);

// `stages` and `edges` as in a plan (edges from crossing_edges); `stage` the one laid out; `recompute` its layers that are
// not kept, ascending, no loss among them. O(layers and inputs of the network), plus the layout of the workspace.
StageLayout lay_out_stage(const Workload& workload, NetworkId network, const std::vector<std::vector<LayerId>>& stages,
                          const std::vector<PlanEdge>& edges, StageId stage, std::int64_t microbatch_size,
                          const std::vector<LayerId>& recompute = {});

// The same from a plan, of the largest part of a microbatch that a copy of the stage takes.
StageLayout lay_out_stage(const Plan& plan, StageId stage);
// Likewise, of the part that one copy takes (core/replicas.h).
StageLayout lay_out_stage(const Plan& plan, StageId stage, std::int32_t copy);

// Offset of each tensor of an edge in its message of `samples` samples, and at the end the length of the message.
std::vector<Bytes> tensor_offsets(const Network& network, const std::vector<LayerId>& tensors, std::int64_t samples);

}  // namespace penstock
