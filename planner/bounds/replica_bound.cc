#include "planner/bounds/replica_bound.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "core/replicas.h"

namespace penstock {
namespace {

constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

// What a rank works in a step on the layers [first, end), from sums over the layers before.
class RankWork {
 public:
  RankWork(const std::vector<StageTimes>& layers, std::int64_t microbatches) : m_(microbatches) {
    for (const StageTimes& layer : layers) {
      microbatch_.push_back(microbatch_.back() + (layer.order_forward() + layer.backward()).value);
      step_.push_back(step_.back() + layer.step.value);
    }
  }
  std::int64_t of(std::size_t first, std::size_t end) const {
    return m_ * (microbatch_[end] - microbatch_[first]) + step_[end] - step_[first];
  }

 private:
  std::int64_t m_;
  std::vector<std::int64_t> microbatch_{0}, step_{0};
};

}  // namespace

std::vector<std::vector<std::int32_t>> ReplicaSpace::options() const {
  std::vector<std::vector<std::int32_t>> out(static_cast<std::size_t>(devices));
  std::int32_t device = 0;
  for (const std::int32_t count : replicas) {
    out[static_cast<std::size_t>(device)] = {count};
    device += count;
  }
  for (std::int32_t d = 0; replicas.empty() && d < devices; ++d)
    for (const std::int32_t count : counts)
      if (d + count <= devices) out[static_cast<std::size_t>(d)].push_back(count);
  return out;
}

std::vector<ReplicaSpace> replica_spaces(const Plan& plan) {
  ReplicaSpace own;
  for (const PlanStage& stage : plan.stages) {
    own.replicas.push_back(stage.replicas);
    if (stage.replicas > 1) own.split = stage.split;
  }
  own.devices = plan.ranks();
  std::vector<ReplicaSpace> spaces = {own};
  for (const std::int32_t devices :
       {plan.ranks(), static_cast<std::int32_t>(plan.cluster.devices.size())}) {
    ReplicaSpace any;
    any.devices = devices;
    any.split = own.split;
    for (std::int32_t r = 1; r <= devices; ++r) {
      const bool shares = any.split == Split::Batch;
      if (r > (shares ? plan.microbatch_size : plan.microbatches)) break;
      const std::int64_t part = shares ? largest_part(plan.microbatch_size, r) : plan.microbatch_size;
      if (layer_times_at(plan, part) != nullptr) any.counts.push_back(r);
    }
    spaces.push_back(std::move(any));
  }
  return spaces;
}

namespace {

// "1 to 16" of what has no gaps, else "1, 2 or 4".
std::string alternatives(const std::vector<std::int32_t>& counts) {
  const auto size = static_cast<std::int32_t>(counts.size());
  if (size > 2 && counts.back() - counts.front() == size - 1)
    return fmt::format("{} to {}", counts.front(), counts.back());
  std::string out;
  for (std::int32_t i = 0; i < size; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == size ? " or " : ", ", counts[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace

std::string text(const ReplicaSpace& space, std::int64_t microbatches,
                 std::int64_t microbatch_size) {
  const std::string_view how =
      space.split == Split::Batch ? "share every microbatch" : "take turns at microbatches";
  const std::string stages =
      space.replicas.empty()
          ? fmt::format("contiguous stages, each on {} ranks that {}, on at most {} ranks",
                        alternatives(space.counts), how, space.devices)
          : fmt::format("contiguous stages on {} ranks in this order, that {}",
                        fmt::join(space.replicas, ", "), how);
  return fmt::format("{}; {} microbatch{} of {} sample{}, forwards and full backwards in any order",
                     stages, microbatches, microbatches == 1 ? "" : "es", microbatch_size, microbatch_size == 1 ? "" : "s");
}

std::vector<Bound> replica_bounds(const Plan& plan, const ReplicaSpace& space) {
  const std::vector<std::vector<std::int32_t>> options = space.options();
  std::set<std::int32_t> counts;
  for (const std::vector<std::int32_t>& here : options) counts.insert(here.begin(), here.end());
  std::vector<std::pair<std::int32_t, RankWork>> work;
  for (const std::int32_t r : counts) {
    const bool shares = space.split == Split::Batch;
    const std::int64_t part = shares ? largest_part(plan.microbatch_size, r) : plan.microbatch_size;
    const std::vector<StageTimes>* layers = layer_times_at(plan, part);
    PENSTOCK_CHECK(layers != nullptr, "a replica space has counts whose layer times are known");
    work.emplace_back(r, RankWork(*layers, shares ? plan.microbatches
                                                  : (plan.microbatches + r - 1) / r));
  }

  const std::size_t n = plan.layer_times.size(), devices = options.size();
  std::int64_t longest = 0;
  for (std::size_t l = 0; l < n; ++l) {
    std::int64_t least = kInfinite;
    for (const auto& [r, rank] : work) least = std::min(least, rank.of(l, l + 1));
    longest = std::max(longest, least);
  }
  // [first layer][first device]; devices may be left over where counts are free.
  std::vector<std::int64_t> value((n + 1) * (devices + 1), kInfinite);
  for (std::size_t d = 0; d <= devices; ++d)
    if (space.replicas.empty() || d == devices) value[n * (devices + 1) + d] = 0;
  for (std::size_t first = n; first-- > 0;)
    for (std::size_t d = 0; d < devices; ++d) {
      std::int64_t& best = value[first * (devices + 1) + d];
      for (const auto& [r, rank] : work) {
        if (std::find(options[d].begin(), options[d].end(), r) == options[d].end()) continue;
        for (std::size_t end = first + 1; end <= n; ++end) {
          const std::int64_t mine = rank.of(first, end);
          if (mine >= best) break;
          best = std::min(
              best, std::max(mine, value[end * (devices + 1) + d + static_cast<std::size_t>(r)]));
        }
      }
    }
  return {{"longest layer", seconds(Nanoseconds(longest))},
          {"division", seconds(Nanoseconds(value[0]))}};
}

}  // namespace penstock
