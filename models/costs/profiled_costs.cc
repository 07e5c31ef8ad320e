#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "models/clusters/clusters.h"
#include "models/costs/cost_table.h"

namespace penstock {
namespace {

constexpr std::string_view kMeasure = "measure it: penstock profile";

std::string_view name(CostOp op) {
  for (const auto& [known, text] : enum_names(CostOp{}))
    if (known == op) return text;
  PENSTOCK_CHECK(false, "an operation without a name");
}

Result<void> expect_match(const Workload& workload, const Profile& profile, const Device& device,
                          std::int64_t microbatch) {
  if (workload.networks.size() != 1) {
    return fail(ErrorCode::Infeasible, fmt::format("{} has {} networks; a profile speaks of one",
                                                   workload.name, workload.networks.size()));
  }
  if (profile.workload_fingerprint != cost_fingerprint(workload)) {
    return fail(ErrorCode::BadInput,
                fmt::format("the profile is of {} ({}), not of {} ({})", profile.workload,
                            profile.workload_fingerprint, workload.name, cost_fingerprint(workload)),
                "profile this workload, or plan that one");
  }
  if (profile.device_kind != device.kind) {
    return fail(ErrorCode::BadInput,
                fmt::format("the profile is of device kind {}, and device {} is a {}",
                            profile.device_kind, device.name, device.kind),
                "give a profile taken on that kind of device");
  }
  std::set<std::int64_t> held;
  for (const LayerTime& row : profile.times)
    if (row.op != CostOp::Step) held.insert(row.microbatch);
  if (!held.contains(microbatch)) {
    return fail(
        ErrorCode::BadInput,
        fmt::format("the profile holds no microbatch of {} samples, only {}", microbatch,
                    held.empty() ? "none at all" : fmt::format("{}", fmt::join(held, ", "))),
        fmt::format("choose one of these, or measure it: penstock profile --microbatch {}",
                    microbatch));
  }
  return {};
}

// The medians of one layer at one microbatch.
class LayerMedians {
 public:
  LayerMedians(const Workload& workload, const Profile& profile, LayerId layer,
               std::int64_t microbatch)
      : profile_(profile),
        name_(workload.networks[0].layers[layer.index()].name),
        signature_(signature(workload, workload.networks[0], layer)),
        microbatch_(microbatch) {}

  const Nanoseconds* find(CostOp op) const {
    const LayerTime* row = profile_.find(signature_, op, op == CostOp::Step ? 0 : microbatch_);
    return row == nullptr ? nullptr : &row->time.median;
  }

  Result<Nanoseconds> get(CostOp op) const {
    if (const Nanoseconds* time = find(op)) return *time;
    return lacks(fmt::format("the time of {}", penstock::name(op)));
  }

  Result<Bytes> workspace() const {
    if (const LayerMemory* row = profile_.find_memory(signature_, microbatch_))
      return row->workspace;
    return lacks("the memory");
  }

 private:
  tl::unexpected<Error> lacks(std::string what) const {
    return fail(ErrorCode::BadInput,
                fmt::format("the profile lacks {} of layer \"{}\" ({}) at {} samples", what, name_,
                            signature_, microbatch_),
                std::string(kMeasure));
  }

  const Profile& profile_;
  const std::string& name_;
  std::string signature_;
  std::int64_t microbatch_;
};

// `to` becomes the median of an operation that a layer has; of one it has not, it stays as it is.
Result<void> set_if(bool has, const LayerMedians& medians, CostOp op, Nanoseconds& to) {
  if (!has) return {};
  PENSTOCK_TRY(to, medians.get(op));
  return {};
}

Result<LayerCost> layer_cost(const Layer& layer, const LayerMedians& medians) {
  LayerCost cost;
  const bool inputs = !layer.inputs.empty(), parameters = !layer.parameters.empty();
  PENSTOCK_TRY_VOID(set_if(!layer.sources.empty(), medians, CostOp::Load, cost.load));
  PENSTOCK_TRY_VOID(set_if(!layer.is_loss(), medians, CostOp::F, cost.forward));
  PENSTOCK_TRY_VOID(set_if(layer.is_loss(), medians, CostOp::Loss, cost.loss));
  // Two parts measured apart need not add up to the whole, and the whole is what most schedules
  // run: W is what BF leaves after B. Where a layer has only one of the parts, that part is the
  // whole.
  const Nanoseconds* full = medians.find(CostOp::BF);
  if (full != nullptr && inputs != parameters) {
    (inputs ? cost.backward_input : cost.backward_weight) = *full;
  } else {
    PENSTOCK_TRY_VOID(set_if(inputs, medians, CostOp::B, cost.backward_input));
    PENSTOCK_TRY_VOID(
        set_if(parameters && full == nullptr, medians, CostOp::W, cost.backward_weight));
    if (parameters && full != nullptr) {
      cost.backward_input = std::min(cost.backward_input, *full);
      cost.backward_weight = *full - cost.backward_input;
    }
  }
  PENSTOCK_TRY_VOID(set_if(parameters, medians, CostOp::Step, cost.step));
  PENSTOCK_TRY(cost.scratch, medians.workspace());
  return cost;
}

}  // namespace

Result<CostTable> profiled_costs(const Workload& workload, const Profile& profile,
                                 const Device& device, std::int64_t microbatch) {
  PENSTOCK_TRY_VOID(expect_match(workload, profile, device, microbatch));
  CostTable table;
  table.source = "profiled";
  table.machine = profile.machine.cpu;
  table.microbatch = microbatch;
  const Network& network = workload.networks[0];
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const LayerMedians medians(workload, profile, LayerId(static_cast<std::int64_t>(i)),
                               microbatch);
    PENSTOCK_TRY(const LayerCost cost, layer_cost(network.layers[i], medians));
    for (const Nanoseconds time : {cost.load, cost.forward, cost.loss, cost.backward_input,
                                   cost.backward_weight, cost.step})
      if (time.value < 0 || time > kLongestTime)
        return fail(ErrorCode::BadInput,
                    fmt::format("the profile says that a pass of layer \"{}\" takes {} ns",
                                network.layers[i].name, time.value),
                    std::string(kMeasure));
    table.layers.push_back(cost);
  }
  const std::vector<LinkTime> hand_offs = profile.links_alone(kThreadLink);
  if (!hand_offs.empty()) {
    const LinkFit fit = fit_link(hand_offs);
    table.link_profiled = true;
    table.link = kThreadLink;
    table.link_latency = fit.latency;
    table.link_bandwidth = fit.bandwidth;
  }
  if (!profile.contention.empty()) table.contention = profile.contention_of_host();
  return table;
}

}  // namespace penstock
