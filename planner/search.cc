#include "planner/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "planner/bounds/bounds.h"
#include "planner/certificate.h"
#include "planner/explain.h"
#include "planner/lower.h"
#include "planner/local_moves.h"

namespace penstock {
namespace {

constexpr std::size_t kFinalists = 6;
constexpr double kNear = 1.05;                          // settings slower than this many times the best are not simulated
constexpr std::int64_t kFirstMoves = 1'000'000;         // operations evaluated for moving the cuts of every division,
constexpr std::int64_t kFinalMoves = 20'000'000;        // and of one that is a finalist
constexpr std::size_t kExactRefusals = 24;              // after so many the limit is lowered instead, to end sooner

struct Entry {
  std::size_t index = 0;  // in the order of the search
  std::size_t costs = 0;
  const ChosenSchedule* schedule = nullptr;
  std::int32_t ranks = 0;
  EvaluatedDivision division;
  std::vector<RefusedStage> refused;  // by what lowering showed
  std::vector<Bytes> reserved;        // likewise, once refusals are many
  std::size_t refusals = 0;
  double bound = 0;                   // of a setting that was left out
};

struct Finalist {
  Plan plan;
  std::size_t index = 0;

  Bytes peak() const {
    Bytes most;
    for (const PlanDevice& device : plan.devices) most = std::max(most, device.peak_memory_bytes);
    return most;
  }
  bool operator<(const Finalist& other) const {
    return std::tuple(plan.iteration_time_s, plan.ranks(), peak(), index) <
           std::tuple(other.plan.iteration_time_s, other.plan.ranks(), other.peak(), other.index);
  }
};

bool is_later(const Entry& a, const Entry& b) {
  return std::tuple(a.division.makespan, a.ranks, a.index) > std::tuple(b.division.makespan, b.ranks, b.index);
}

class Search {
 public:
  explicit Search(const PlanRequest& request) : request_(request), network_(request.workload.networks.front()) {}

  Result<Plan> run() {
    PENSTOCK_TRY_VOID(choose_ranks());
    PENSTOCK_TRY_VOID(choose_schedules());
    PENSTOCK_TRY_VOID(choose_microbatches());
    PENSTOCK_TRY_VOID(explore());
    PENSTOCK_TRY_VOID(finish());
    while (!request_.stop.stop_requested()) {
      PENSTOCK_TRY(const bool has_more, reconsider());
      if (!has_more) break;
      PENSTOCK_TRY_VOID(finish());
    }
    if (finalists_.empty()) return fail(failure());
    std::sort(finalists_.begin(), finalists_.end());
    Plan& plan = finalists_.front().plan;
    certify(plan, most_ranks_);
    plan.certificate.binding_constraint = binding_constraint(plan);
    if (finalists_.size() > 1) {
      const Plan& second = finalists_[1].plan;
      const double longer = second.iteration_time_s / plan.iteration_time_s - 1;
      plan.certificate.runner_up = fmt::format(
          "{}: {} an iteration, {}; {} on its fullest rank instead of {}", describe(second),
          text(nanoseconds(second.iteration_time_s)), longer > 0 ? fmt::format("{:.2g}% longer", 100 * longer) : "as long",
          text(finalists_[1].peak()), text(finalists_[0].peak()));
    }
    return std::move(plan);
  }

 private:
  Result<void> choose_ranks();
  Result<void> choose_schedules();
  Result<void> choose_microbatches();
  Result<void> explore();
  Result<void> explore(Entry entry);
  Result<bool> reconsider();
  Result<void> finish();
  Result<void> refuse(Entry entry, const Plan& plan);
  Result<bool> divide_again(Entry& entry, const Setting& setting);
  double best_simulated() const;
  Error failure() const;

  Result<Setting> setting_of(const Entry& entry) const {
    PENSTOCK_TRY(Setting setting, make_setting(request_.workload, request_.cluster, costs_[entry.costs], *entry.schedule,
                                               entry.ranks, request_.memory_limit));
    setting.problem.refused = entry.refused;
    setting.problem.reserved = entry.reserved;
    return setting;
  }
  void miss(const Setting& setting, const Shortage& shortage) {
    if (nearest_ && nearest_->shortage.excess <= shortage.excess) return;
    nearest_ = NearestMiss{std::string(setting.schedule->name), setting.ranks(), setting.costs->microbatch,
                           setting.problem.limits[static_cast<std::size_t>(shortage.stage)], shortage};
  }

  const PlanRequest& request_;
  const Network& network_;
  std::int32_t least_ranks_ = 1, most_ranks_ = 1;
  std::vector<ChosenSchedule> schedules_;
  std::vector<CostTable> costs_;  // one a microbatch size, descending
  Evaluator evaluator_;
  std::vector<Entry> open_, left_out_;
  std::vector<Finalist> finalists_;
  std::optional<NearestMiss> nearest_;
  std::optional<Error> refusal_;  // of the first shape that a schedule does not admit
  std::optional<Nanoseconds> best_;
};

Result<void> Search::choose_ranks() {
  const std::vector<Device>& devices = request_.cluster.devices;
  const auto available = static_cast<std::int32_t>(devices.size());
  const auto layers = static_cast<std::int32_t>(network_.layers.size());
  if (request_.ranks < 0) return fail(ErrorCode::Usage, fmt::format("{} ranks", request_.ranks));
  if (request_.ranks > available)
    return fail(ErrorCode::Infeasible, fmt::format("{} ranks, but cluster {} has {} devices", request_.ranks, request_.cluster.name, available));
  if (request_.ranks > layers)
    return fail(ErrorCode::Infeasible, fmt::format("{} stages, but network {} has {} layers", request_.ranks, network_.name, layers));
  most_ranks_ = request_.ranks > 0 ? request_.ranks : available;
  least_ranks_ = request_.ranks > 0 ? request_.ranks : 1;
  for (std::int32_t r = 1; r < most_ranks_; ++r) {
    const Device& device = devices[static_cast<std::size_t>(r)];
    if (device.kind == devices[0].kind && device.peak_f32 == devices[0].peak_f32 && device.memory_bandwidth == devices[0].memory_bandwidth)
      continue;
    return fail(ErrorCode::Infeasible,
                fmt::format("devices {} and {} are not of one kind: a {} and a {}", devices[0].name, device.name, devices[0].kind, device.kind),
                "plans are made for devices of one kind and speed");
  }
  return {};
}

Result<void> Search::choose_schedules() {
  for (const std::string& name : request_.schedules) {
    PENSTOCK_TRY(const ChosenSchedule chosen, find_schedule(name));
    schedules_.push_back(chosen);
  }
  if (schedules_.empty())
    for (const Schedule& schedule : schedules()) schedules_.push_back({&schedule, {}});
  return {};
}

Result<void> Search::choose_microbatches() {
  const std::int64_t batch = request_.workload.global_batch;
  std::set<std::int64_t, std::greater<>> sizes;
  for (const std::int64_t size : request_.microbatch_sizes) {
    if (size < 1 || batch % size != 0)
      return fail(ErrorCode::Usage, fmt::format("microbatches of {} do not divide the global batch of {}", size, batch));
    sizes.insert(size);
  }
  if (sizes.empty() && request_.profile) {
    std::set<std::int64_t> held;
    for (const LayerTime& time : request_.profile->times)
      if (time.microbatch > 0) held.insert(time.microbatch);
    for (const std::int64_t size : held)
      if (batch % size == 0) sizes.insert(size);
    if (sizes.empty())
      return fail(ErrorCode::Infeasible,
                  fmt::format("the profile holds microbatches of {}, none of which divides the global batch of {}", fmt::join(held, ", "), batch),
                  "profile with other --microbatch sizes, or change --global-batch");
  } else if (sizes.empty()) {
    for (std::int64_t size = 1; size * size <= batch; ++size)
      if (batch % size == 0) sizes.insert({size, batch / size});
  }
  const Device& device = request_.cluster.devices.front();
  for (const std::int64_t size : sizes) {
    if (request_.profile) {
      PENSTOCK_TRY(CostTable costs, profiled_costs(request_.workload, *request_.profile, device, size));
      costs_.push_back(std::move(costs));
    } else {
      PENSTOCK_TRY(CostTable costs, derived_costs(request_.workload, device, size));
      costs_.push_back(std::move(costs));
    }
  }
  return {};
}

Result<void> Search::explore() {
  const std::size_t per_schedule = static_cast<std::size_t>(std::min<std::int32_t>(
                                       most_ranks_, static_cast<std::int32_t>(network_.layers.size())) - least_ranks_ + 1);
  const std::size_t total = costs_.size() * schedules_.size() * per_schedule;
  std::size_t index = 0;
  for (std::size_t c = 0; c < costs_.size(); ++c) {
    for (const ChosenSchedule& schedule : schedules_) {
      for (std::size_t k = 0; k < per_schedule; ++k) {
        if (request_.stop.stop_requested()) return {};
        Entry entry;
        entry.index = index++;
        entry.costs = c;
        entry.schedule = &schedule;
        entry.ranks = least_ranks_ + static_cast<std::int32_t>(per_schedule - 1 - k);
        PENSTOCK_TRY_VOID(explore(std::move(entry)));
        if (request_.progress) request_.progress(index, total, best_ ? seconds(*best_) : 0);
      }
    }
  }
  return {};
}

Result<void> Search::explore(Entry entry) {
  const CostTable& costs = costs_[entry.costs];
  std::vector<StageTimes> layers;
  for (std::size_t l = 0; l < costs.layers.size(); ++l) layers.push_back(stage_times(costs, {LayerId(static_cast<std::int64_t>(l))}));
  const BoundProblem bound{&network_, &layers, entry.ranks, request_.workload.global_batch / costs.microbatch};
  entry.bound = std::max(work_bound(bound).seconds, fill_and_drain_bound(bound).seconds);
  if (best_ && entry.bound > seconds(*best_)) {
    left_out_.push_back(std::move(entry));
    return {};
  }

  auto setting = setting_of(entry);
  if (!setting && setting.error().code == ErrorCode::Infeasible) {
    if (!refusal_) refusal_ = setting.error();
    return {};
  }
  if (!setting) return fail(setting.error());
  PENSTOCK_TRY(const bool fits, divide_again(entry, *setting));
  if (!fits) return {};
  best_ = std::min(best_.value_or(entry.division.makespan), entry.division.makespan);
  open_.push_back(std::move(entry));
  return {};
}

// The entry's division under what has been refused so far; false if there is none.
Result<bool> Search::divide_again(Entry& entry, const Setting& setting) {
  StageGrower range(request_.workload, *setting.costs);
  const tl::expected<Division, Shortage> division = divide(range, setting.problem);
  if (!division) {
    if (entry.refusals <= kExactRefusals) miss(setting, division.error());  // exact as long as nothing is reserved
    return false;
  }
  PENSTOCK_TRY(entry.division.makespan, evaluate_division(setting, division->ends, evaluator_));
  entry.division.ends = division->ends;
  PENSTOCK_TRY(entry.division, improve(setting, std::move(entry.division), range, evaluator_, kFirstMoves, request_.stop));
  return true;
}

double Search::best_simulated() const {
  return finalists_.empty() ? std::numeric_limits<double>::infinity()
                            : std::min_element(finalists_.begin(), finalists_.end())->plan.iteration_time_s;
}

// What was left out for a division that then did not fit: explores it after all. False if there is no such thing.
Result<bool> Search::reconsider() {
  std::vector<Entry> again;
  std::swap(again, left_out_);
  std::erase_if(again, [&](const Entry& entry) { return entry.bound > best_simulated(); });
  if (again.empty()) return false;
  best_.reset();
  for (Entry& entry : again) PENSTOCK_TRY_VOID(explore(std::move(entry)));
  return true;
}

Result<void> Search::finish() {
  std::make_heap(open_.begin(), open_.end(), is_later);
  while (!open_.empty() && finalists_.size() < kFinalists && (finalists_.empty() || !request_.stop.stop_requested())) {
    std::pop_heap(open_.begin(), open_.end(), is_later);
    Entry entry = std::move(open_.back());
    open_.pop_back();
    if (finalists_.size() > 1 && seconds(entry.division.makespan) > kNear * best_simulated()) break;
    PENSTOCK_TRY(const Setting setting, setting_of(entry));
    StageGrower range(request_.workload, *setting.costs);
    PENSTOCK_TRY(entry.division, improve(setting, std::move(entry.division), range, evaluator_, kFinalMoves, request_.stop));
    PENSTOCK_TRY(Plan plan, plan_of(setting, entry.division.ends));
    PENSTOCK_TRY(const Program program, lay_out(plan));
    const bool fits = std::all_of(plan.devices.begin(), plan.devices.end(), [](const PlanDevice& device) {
      return device.peak_memory_bytes <= device.memory_limit_bytes;
    });
    if (!fits) {
      PENSTOCK_TRY_VOID(refuse(std::move(entry), plan));
      continue;
    }
    PENSTOCK_TRY(const Nanoseconds time, simulated_iteration_time(program));
    plan.iteration_time_s = seconds(time);
    plan.throughput_samples_per_s = static_cast<double>(request_.workload.global_batch) / plan.iteration_time_s;
    finalists_.push_back({std::move(plan), entry.index});
  }
  return {};
}

// The layout of a plan takes more than least_memory saw: never again these stages; after many such, room to spare.
Result<void> Search::refuse(Entry entry, const Plan& plan) {
  ++entry.refusals;
  entry.reserved.resize(plan.devices.size());
  Shortage worst;
  for (std::size_t s = 0; s < plan.devices.size(); ++s) {
    const Bytes excess = plan.devices[s].peak_memory_bytes - plan.devices[s].memory_limit_bytes;
    if (excess.value <= 0) continue;
    const PlanStage& stage = plan.stages[s];
    entry.refused.push_back({static_cast<std::int32_t>(s), stage.layers.front().value, stage.layers.back().value + 1, excess});
    if (entry.refusals > kExactRefusals) entry.reserved[s] += std::max(entry.reserved[s], excess);
    if (worst.excess < excess) worst = {static_cast<std::int32_t>(s), entry.refused.back().first, entry.refused.back().end, excess};
  }
  PENSTOCK_TRY(const Setting setting, setting_of(entry));
  miss(setting, worst);
  PENSTOCK_TRY(const bool is_divided, divide_again(entry, setting));
  if (!is_divided) return {};
  open_.push_back(std::move(entry));
  std::push_heap(open_.begin(), open_.end(), is_later);
  return {};
}

Error Search::failure() const {
  if (request_.stop.stop_requested())
    return {.code = ErrorCode::Interrupted, .message = "interrupted before any plan was found"};
  if (!nearest_) {
    PENSTOCK_CHECK(refusal_.has_value(), "a search that ends without a plan knows why");
    return *refusal_;
  }
  Restrictions restrictions;
  restrictions.smaller_microbatches = costs_.back().microbatch > 1;
  restrictions.more_ranks = most_ranks_ < static_cast<std::int32_t>(std::min(request_.cluster.devices.size(), network_.layers.size()));
  restrictions.one_f_one_b = std::none_of(schedules_.begin(), schedules_.end(),
                                          [](const ChosenSchedule& chosen) { return chosen.schedule->name == "1f1b"; });
  restrictions.higher_limit = nearest_->limit < request_.cluster.devices.front().memory;
  return nothing_fits(*nearest_, restrictions);
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request) {
  PENSTOCK_TRY_VOID(validate(request.workload));
  PENSTOCK_TRY_VOID(validate(request.cluster));
  if (request.workload.networks.size() != 1)
    return fail(ErrorCode::Infeasible, fmt::format("workload {} has {} networks", request.workload.name, request.workload.networks.size()),
                "plans are made for workloads of one network");
  return Search(request).run();
}

}  // namespace penstock
