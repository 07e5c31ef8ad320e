#include "planner/stage_buckets.h"

#include <algorithm>

#include "core/buckets.h"
#include "core/replicas.h"
#include "core/stage_layout.h"

namespace penstock {

StageBuckets stage_buckets(const Plan& plan, StageId stage) {
  const PlanStage& row = plan.stages[stage.index()];
  const Network& network = plan.workload.networks[row.network.index()];
  std::vector<Bytes> sizes;
  std::vector<std::int32_t> layer_of, ready;
  for (std::size_t l = 0; l < row.layers.size(); ++l)
    for (const Parameter& parameter : network.layers[row.layers[l].index()].parameters) {
      sizes.push_back(Bytes(parameter.elements() * size_of(DataType::F32)));
      layer_of.push_back(static_cast<std::int32_t>(l));
    }
  for (std::size_t p = sizes.size(); p-- > 0;) ready.push_back(static_cast<std::int32_t>(p));
  std::vector<Bytes> offsets = parameter_offsets(network, row.layers);
  offsets.push_back(lay_out_stage(plan, stage).parameters);

  StageBuckets out;
  auto low = static_cast<std::int32_t>(row.layers.size());
  for (const std::vector<std::int32_t>& bucket :
       merged(ready_buckets(sizes, ready, plan.bucket_limits), kMostBuckets)) {
    Group& group = out.groups.emplace_back();
    group.kind = GroupKind::Gradients;
    group.ranks = row.devices;
    group.stage = stage;
    group.first_parameter = bucket.back();
    group.end_parameter = bucket.front() + 1;
    group.offset = offsets[static_cast<std::size_t>(group.first_parameter)];
    group.bytes = offsets[static_cast<std::size_t>(group.end_parameter)] - group.offset;
    group.first_layer = layer_of[static_cast<std::size_t>(group.first_parameter)];
    if (group.first_layer < low) {
      out.parts.push_back({group.first_layer, low, {}});
      low = group.first_layer;
    }
    out.after_part.push_back(static_cast<std::int32_t>(out.parts.size()) - 1);
  }
  if (out.parts.empty()) out.parts.push_back({0, low, {}});
  out.parts.back().first_layer = 0;

  const std::vector<StageTimes>* times = layer_times_at(plan, largest_part(plan, row));
  PENSTOCK_CHECK(times != nullptr, "a valid plan has layer times at each part");
  for (StageBuckets::Part& part : out.parts)
    for (std::int32_t l = part.first_layer; l < part.end_layer; ++l)
      part.time += (*times)[row.layers[static_cast<std::size_t>(l)].index()].backward();
  return out;
}

}  // namespace penstock
