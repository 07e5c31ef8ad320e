#include "planner/partition/replica_dp.h"

#include <algorithm>
#include <limits>

#include "core/buckets.h"

namespace penstock {
namespace {

constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

class ReplicaDivider {
 public:
  explicit ReplicaDivider(const ReplicaProblem& problem)
      : problem_(problem),
        n_(static_cast<std::int32_t>(problem.workload->networks.front().layers.size())) {}

  std::optional<ReplicaDivision> divide() {
    const auto cells = at(n_ + 1) * at(problem_.devices + 1);
    value_.assign(cells, kInfinite);
    choice_.resize(cells);
    for (std::int32_t d = 0; d <= problem_.devices; ++d)
      if (d == problem_.devices || !problem_.all_devices) value_[cell(n_, d)] = 0;
    std::vector<std::optional<StageGrower>> growers(problem_.costs.size());
    for (std::size_t r = 1; r < problem_.costs.size(); ++r)
      if (problem_.costs[r] != nullptr) growers[r].emplace(*problem_.workload, *problem_.costs[r]);
    for (std::int32_t first = n_ - 1; first >= 0; --first) {
      for (std::size_t r = 1; r < growers.size(); ++r) {
        if (!growers[r]) continue;
        growers[r]->start(first);
        while (growers[r]->end() < n_) {
          growers[r]->extend();
          if (!try_range(first, growers[r]->end(), static_cast<std::int32_t>(r),
                         growers[r]->figures()))
            break;
        }
      }
    }
    if (value_[cell(0, 0)] == kInfinite) return std::nullopt;
    ReplicaDivision out;
    out.bottleneck = Nanoseconds(value_[cell(0, 0)]);
    for (std::int32_t layer = 0, d = 0; layer < n_;) {
      const Choice& next = choice_[cell(layer, d)];
      out.ends.push_back(next.end);
      out.replicas.push_back(next.replicas);
      layer = next.end;
      d += next.replicas;
    }
    return out;
  }

 private:
  struct Choice {
    std::int32_t end = 0, replicas = 0;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::size_t cell(std::int32_t layer, std::int32_t device) const {
    return at(layer) * at(problem_.devices + 1) + at(device);
  }

  // False if no longer range fits anywhere.
  bool try_range(std::int32_t first, std::int32_t end, std::int32_t replicas,
                 const StageFigures& figures) {
    const std::int64_t states = problem_.workload->optimizer.states();
    const Bytes memory = (2 + states) * figures.parameters + figures.workspace +
                         problem_.kept * (figures.stash + figures.data);
    bool fits = false;
    // The first stage begins on the first device; each later one has a device before it.
    const std::int32_t least = first > 0 ? 1 : 0, most = first > 0 ? problem_.devices : 0;
    for (std::int32_t d = least; d <= most && d + replicas <= problem_.devices; ++d) {
      const std::vector<std::int32_t>& options = problem_.options[at(d)];
      if (std::find(options.begin(), options.end(), replicas) == options.end()) continue;
      bool room = true;
      for (std::int32_t r = d; r < d + replicas; ++r)
        room = room && memory <= problem_.limits[at(r)];
      if (!room) continue;
      fits = true;
      const std::int64_t rest = value_[cell(end, d + replicas)];
      std::int64_t& known = value_[cell(first, d)];
      if (rest >= known) continue;
      const std::int64_t whole = std::max(rest, time_of(figures, first, end, d, replicas));
      if (whole >= known) continue;
      known = whole;
      choice_[cell(first, d)] = {end, replicas};
    }
    return fits;
  }

  std::int64_t time_of(const StageFigures& figures, std::int32_t first, std::int32_t end,
                       std::int32_t d, std::int32_t replicas) const {
    PENSTOCK_CHECK((first > 0) == (d > 0), "only the first stage has no device before it");
    Nanoseconds waits, exposed;
    if (first > 0) waits += problem_.from_previous[at(d)].time(figures.received);
    if (end < n_ && d + replicas < problem_.devices)
      waits += problem_.from_previous[at(d + replicas)].time(figures.sent);
    if (replicas > 1) {
      Hop slowest = problem_.from_previous[at(d + 1)];
      for (std::int32_t r = d + 2; r < d + replicas; ++r)
        if (problem_.from_previous[at(r)].time(figures.parameters) >
            slowest.time(figures.parameters))
          slowest = problem_.from_previous[at(r)];
      const Nanoseconds whole =
          ring_all_reduce(replicas, slowest.latency, slowest.bandwidth, figures.parameters);
      // A backward is about two thirds of a microbatch.
      exposed = std::max(Nanoseconds(whole.value / 10), whole - Nanoseconds(figures.compute.value / 3 * 2));
    }
    const std::int64_t m = problem_.split == Split::Batch
                               ? problem_.microbatches
                               : (problem_.microbatches + replicas - 1) / replicas;
    return (m * (figures.compute + waits) + figures.step + exposed).value;
  }

  const ReplicaProblem& problem_;
  const std::int32_t n_;
  std::vector<std::int64_t> value_;  // [first layer][first device]
  std::vector<Choice> choice_;
};

}  // namespace

std::optional<ReplicaDivision> divide_over_replicas(const ReplicaProblem& problem) {
  return ReplicaDivider(problem).divide();
}

}  // namespace penstock
