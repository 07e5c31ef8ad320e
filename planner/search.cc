#include "planner/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/log.h"
#include "planner/bounds/bounds.h"
#include "planner/certificate.h"
#include "planner/explain.h"
#include "planner/local_moves.h"
#include "planner/ordinary_training.h"
#include "planner/replicated_search.h"
#include "planner/search_space.h"

namespace penstock {
namespace {

constexpr std::size_t kFinalists = 6;
constexpr double kNear = 1.05;  // settings slower than this many times the best are not simulated
constexpr std::int64_t kFirstMoves =
    1'000'000;  // operations evaluated for moving the cuts of every division,
constexpr std::int64_t kFinalMoves = 20'000'000;  // and of one that is a finalist
constexpr std::size_t kExactRefusals =
    24;  // after so many the limit is lowered instead, to end sooner

struct Entry {
  std::size_t index = 0;  // in the order of the search
  std::size_t costs = 0;
  const ChosenSchedule* schedule = nullptr;
  std::int32_t ranks = 0;
  EvaluatedDivision division;
  std::vector<RefusedStage> refused;  // by what lowering showed
  std::vector<Bytes> reserved;        // likewise, once refusals are many
  std::size_t refusals = 0;
  double bound = 0;  // of a setting that was left out
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
  return std::tuple(a.division.makespan, a.ranks, a.index) >
         std::tuple(b.division.makespan, b.ranks, b.index);
}

class Search {
 public:
  explicit Search(const PlanRequest& request)
      : request_(request), network_(request.workload.networks.front()) {}

  Result<Plan> run() {
    PENSTOCK_TRY(space_, search_space(request_));
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
    certify(plan, space_.most_ranks);
    plan.certificate.binding_constraint = binding_constraint(plan);
    if (finalists_.size() > 1) {
      const Plan& second = finalists_[1].plan;
      const double longer = second.iteration_time_s / plan.iteration_time_s - 1;
      plan.certificate.runner_up =
          fmt::format("{}: {} an iteration, {}; {} on its fullest rank{}",
                      describe(second), text(nanoseconds(second.iteration_time_s)),
                      longer > 0 ? fmt::format("{:.2g}% longer", 100 * longer) : "as long",
                      text(finalists_[1].peak()),
                      text(finalists_[1].peak()) == text(finalists_[0].peak())
                          ? ", as here"
                          : " instead of " + text(finalists_[0].peak()));
    }
    return std::move(plan);
  }

 private:
  Result<void> explore();
  Result<void> explore(Entry entry);
  Result<bool> reconsider();
  Result<void> finish();
  Result<void> refuse(Entry entry, const Plan& plan);
  Result<bool> divide_again(Entry& entry, const Setting& setting);
  double best_simulated() const;
  void note_nearest_miss();
  Error failure();

  Result<Setting> setting_of(const Entry& entry) const {
    PENSTOCK_TRY(Setting setting,
                 make_setting(request_.workload, request_.cluster, space_.costs[entry.costs],
                              *entry.schedule, entry.ranks, request_.memory_limit));
    setting.problem.refused = entry.refused;
    setting.problem.reserved = entry.reserved;
    setting.problem.stop = request_.stop;
    return setting;
  }
  void miss(const Setting& setting, const Shortage& shortage) {
    if (nearest_ && nearest_->shortage.excess <= shortage.excess) return;
    nearest_ =
        NearestMiss{std::string(setting.schedule->name), setting.ranks(), setting.costs->microbatch,
                    setting.problem.limits[static_cast<std::size_t>(shortage.stage)], shortage};
  }

  const PlanRequest& request_;
  const Network& network_;
  SearchSpace space_;
  Evaluator evaluator_;
  std::vector<Entry> open_, left_out_, unfit_;
  std::vector<Finalist> finalists_;
  std::optional<NearestMiss> nearest_;
  std::optional<Error> refusal_;  // of the first shape that a schedule does not admit
  std::optional<Nanoseconds> best_;
};

Result<void> Search::explore() {
  const auto per_schedule =
      static_cast<std::size_t>(space_.most_ranks) - static_cast<std::size_t>(space_.least_ranks) + 1;
  const std::size_t total = space_.costs.size() * space_.schedules.size() * per_schedule;
  std::size_t index = 0;
  for (std::size_t c = 0; c < space_.costs.size(); ++c) {
    for (const ChosenSchedule& schedule : space_.schedules) {
      for (std::size_t k = 0; k < per_schedule; ++k) {
        if (request_.stop.stop_requested()) return {};
        Entry entry;
        entry.index = index++;
        entry.costs = c;
        entry.schedule = &schedule;
        entry.ranks = space_.least_ranks + static_cast<std::int32_t>(per_schedule - 1 - k);
        PENSTOCK_TRY_VOID(explore(std::move(entry)));
        if (request_.progress) request_.progress(index, total, best_ ? seconds(*best_) : 0);
      }
    }
  }
  return {};
}

Result<void> Search::explore(Entry entry) {
  const CostTable& costs = space_.costs[entry.costs];
  std::vector<StageTimes> layers;
  layers.reserve(costs.layers.size());
  for (std::size_t l = 0; l < costs.layers.size(); ++l)
    layers.push_back(stage_times(costs, {LayerId(static_cast<std::int64_t>(l))}));
  const BoundProblem bound{&network_, &layers, entry.ranks,
                           request_.workload.global_batch / costs.microbatch};
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
  std::optional<EvaluatedDivision> best;
  // From two starts, as moving cuts finds the optimum near where it begins: least bottleneck with
  // the filling of the pipeline, which holds for any order, and of the stages alone, which is what
  // an order with few microbatches in flight comes nearer to.
  for (const bool counts_fill : {true, false}) {
    DivisionProblem problem = setting.problem;
    problem.counts_fill = counts_fill;
    const std::optional<Division> division = divide(range, problem);
    if (!division) break;
    EvaluatedDivision start{.ends = division->ends, .makespan = {}};
    PENSTOCK_TRY(start.makespan, evaluate_division(setting, start.ends, evaluator_));
    PENSTOCK_TRY(
        EvaluatedDivision moved,
        improve(setting, std::move(start), range, evaluator_, kFirstMoves, request_.stop));
    if (!best || moved.makespan < best->makespan) best = std::move(moved);
  }
  if (!best) {
    if (entry.refusals == 0 && !request_.stop.stop_requested())
      unfit_.push_back(entry);  // otherwise refuse() has noted what its best division lacked
    return false;
  }
  entry.division = std::move(*best);
  return true;
}

double Search::best_simulated() const {
  return finalists_.empty()
             ? std::numeric_limits<double>::infinity()
             : std::min_element(finalists_.begin(), finalists_.end())->plan.iteration_time_s;
}

// What was left out for a division that then did not fit: explores it after all. False if there is
// no such thing.
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
  while (!open_.empty() && finalists_.size() < kFinalists &&
         (finalists_.empty() || !request_.stop.stop_requested())) {
    std::pop_heap(open_.begin(), open_.end(), is_later);
    Entry entry = std::move(open_.back());
    open_.pop_back();
    if (finalists_.size() > 1 && seconds(entry.division.makespan) > kNear * best_simulated()) break;
    PENSTOCK_TRY(const Setting setting, setting_of(entry));
    StageGrower range(request_.workload, *setting.costs);
    PENSTOCK_TRY(entry.division, improve(setting, std::move(entry.division), range, evaluator_,
                                         kFinalMoves, request_.stop));
    PENSTOCK_TRY(Plan plan, plan_of(setting, entry.division.ends));
    PENSTOCK_TRY(const Program program, lay_out(plan));
    const bool fits =
        std::all_of(plan.devices.begin(), plan.devices.end(), [](const PlanDevice& device) {
          return device.peak_memory_bytes <= device.memory_limit_bytes;
        });
    if (!fits) {
      PENSTOCK_TRY_VOID(refuse(std::move(entry), plan));
      continue;
    }
    PENSTOCK_TRY(const Nanoseconds time, simulated_iteration_time(program));
    plan.iteration_time_s = seconds(time);
    plan.throughput_samples_per_s =
        static_cast<double>(request_.workload.global_batch) / plan.iteration_time_s;
    finalists_.push_back({std::move(plan), entry.index});
  }
  return {};
}

// The layout of a plan takes more than least_memory saw: never again these stages; after many such,
// room to spare.
Result<void> Search::refuse(Entry entry, const Plan& plan) {
  ++entry.refusals;
  entry.reserved.resize(plan.devices.size());
  Shortage worst;
  for (std::size_t s = 0; s < plan.devices.size(); ++s) {
    const Bytes excess = plan.devices[s].peak_memory_bytes - plan.devices[s].memory_limit_bytes;
    if (excess.value <= 0) continue;
    const PlanStage& stage = plan.stages[s];
    entry.refused.push_back({static_cast<std::int32_t>(s), stage.layers.front().value,
                             stage.layers.back().value + 1, excess});
    if (entry.refusals > kExactRefusals) entry.reserved[s] += std::max(entry.reserved[s], excess);
    if (worst.excess < excess)
      worst = {static_cast<std::int32_t>(s), entry.refused.back().first, entry.refused.back().end,
               excess};
  }
  PENSTOCK_TRY(const Setting setting, setting_of(entry));
  miss(setting, worst);
  PENSTOCK_TRY(const bool is_divided, divide_again(entry, setting));
  if (!is_divided) return {};
  open_.push_back(std::move(entry));
  std::push_heap(open_.begin(), open_.end(), is_later);
  return {};
}

// Smaller microbatches never take more, alignment aside: only the smallest that were tried are
// looked at.
void Search::note_nearest_miss() {
  Bytes parameters;
  for (const Layer& layer : network_.layers)
    for (const Parameter& parameter : layer.parameters)
      parameters += Bytes(parameter.elements() * size_of(DataType::F32));
  const Bytes persistent = (2 + request_.workload.optimizer.states()) * parameters;
  std::size_t smallest = 0;
  for (const Entry& entry : unfit_) smallest = std::max(smallest, entry.costs);
  for (const Entry& entry : unfit_) {
    if (entry.costs != smallest) continue;
    const Result<Setting> setting = setting_of(entry);
    if (!setting) continue;  // it was admitted before
    const Bytes most =
        *std::max_element(setting->problem.limits.begin(), setting->problem.limits.end());
    if (nearest_ && Bytes(persistent.value / entry.ranks) - most > nearest_->shortage.excess)
      continue;
    StageGrower range(request_.workload, *setting->costs);
    miss(*setting, shortage(range, setting->problem));
  }
}

Error Search::failure() {
  if (request_.stop.stop_requested())
    return {.code = ErrorCode::Interrupted, .message = "interrupted before any plan was found"};
  note_nearest_miss();
  if (!nearest_) {
    PENSTOCK_CHECK(refusal_.has_value(), "a search that ends without a plan knows why");
    return *refusal_;
  }
  Restrictions restrictions;
  restrictions.smaller_microbatches = space_.costs.back().microbatch > 1;
  restrictions.more_ranks =
      space_.most_ranks <
      static_cast<std::int32_t>(std::min(request_.cluster.devices.size(), network_.layers.size()));
  restrictions.one_f_one_b =
      std::none_of(space_.schedules.begin(), space_.schedules.end(),
                   [](const ChosenSchedule& chosen) { return chosen.schedule->name == "1f1b"; });
  restrictions.higher_limit = nearest_->limit < request_.cluster.devices.front().memory;
  return nothing_fits(*nearest_, restrictions);
}

bool has_none(const PlanRequest& request) {
  return !request.replicas.empty() &&
         std::all_of(request.replicas.begin(), request.replicas.end(),
                     [](std::int32_t count) { return count == 1; });
}

// {1}: any number of stages; {1, 1}: two.
Result<Plan> make_plan_without_replicas(PlanRequest request) {
  if (request.split != Split::Batch)
    return fail(ErrorCode::Usage, "no stage has replicas that could take turns at microbatches",
                "name some (--replicas 2,1, or any), or leave the split out");
  if (request.replicas.size() > 1) {
    PENSTOCK_TRY(request.ranks, ranks_of_replicas(request));
  }
  request.replicas = {1};
  return Search(request).run();
}

}  // namespace

Result<Plan> make_plan(const PlanRequest& request) {
  PENSTOCK_TRY_VOID(validate(request.workload));
  PENSTOCK_TRY_VOID(validate(request.cluster));
  PENSTOCK_TRY_VOID(expect_ordinary_training(request.workload));
  for (const std::int32_t count : request.replicas)
    if (count < 1) return fail(ErrorCode::Usage, fmt::format("{} replicas of a stage", count));
  if (has_none(request)) return make_plan_without_replicas(request);
  if (!request.replicas.empty()) return search_replicated(request);
  // As many as pay: the best without replicas, unless the best with some is faster.
  PlanRequest single = request;
  single.replicas = {1};
  auto plain = Search(single).run();
  if (!plain && plain.error().code != ErrorCode::Infeasible) return plain;
  if (request.stop.stop_requested()) return plain;
  auto shared = search_replicated(request);
  if (!shared && shared.error().code == ErrorCode::Interrupted) return plain;
  if (!shared && shared.error().code != ErrorCode::Infeasible) return shared;
  if (!shared) {
    if (plain) log_info(fmt::format("a plan without replicas: {}", shared.error().message));
    return plain;
  }
  if (plain && plain->iteration_time_s <= shared->iteration_time_s) return plain;
  if (plain)
    shared->certificate.runner_up =
        fmt::format("{}: {} an iteration", describe(*plain),
                    text(nanoseconds(plain->iteration_time_s)));
  return shared;
}

}  // namespace penstock
