#include "exec/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>
#include <tuple>

#include "core/replicas.h"
#include "exec/backend.h"
#include "exec/interpreter.h"
#include "exec/parameters.h"
#include "exec/training.h"
#include "exec/watchdog.h"

namespace penstock {
namespace {

// Everything a local run holds. Members go last to first: the devices' workers end before what they use.
struct LocalRun {
  std::unique_ptr<Backend> backend;
  DataSource data;
  std::unique_ptr<Training> training;
  std::vector<std::unique_ptr<Interpreter>> ranks;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<GroupCommunicator>> groups;
  std::vector<std::unique_ptr<RankDevice>> devices;
};

// That the program is the plan's, as far as the tables tell.
Result<void> belong_together(const Plan& plan, const Program& program) {
  bool same = program.ranks.size() == plan.devices.size() && program.stages == static_cast<std::int32_t>(plan.stages.size()) &&
              program.body_microbatches == plan.microbatches * program.body_steps;
  for (const ProgramEdge& edge : program.edges) {
    same = same && std::any_of(plan.edges.begin(), plan.edges.end(), [&](const PlanEdge& e) {
             const bool there = e.from == edge.from && e.to == edge.to, back = e.from == edge.to && e.to == edge.from;
             return (there || back) && (edge.samples > 0 ? e.bytes >= edge.bytes : e.bytes == edge.bytes);
           });
  }
  for (std::size_t s = 0; same && s < plan.stages.size(); ++s) {
    const auto copies = std::count_if(program.stores.begin(), program.stores.end(),
                                      [&](const ProgramStore& store) { return store.stage.index() == s; });
    same = copies == plan.stages[s].replicas;
  }
  if (same) return {};
  return fail(ErrorCode::BadInput, "the program was not lowered from this plan", "lower the plan anew");
}

// A gigabyte of start and end times a rank.
constexpr std::int64_t kMostRecords = (std::int64_t{1} << 30) / static_cast<std::int64_t>(sizeof(Stamp));

// Every instruction of every step is recorded, in memory taken before the run.
std::int64_t most_steps(const Plan& plan, const Program& program) {
  std::int64_t most = 1;
  for (const RankProgram& rank : program.ranks) {
    std::int64_t body = 0;
    for (const Stream& stream : rank.streams) body += static_cast<std::int64_t>(stream.body.size());
    most = std::max(most, body);
  }
  // Losses are as long: one a microbatch and copy.
  const std::int64_t losses = plan.microbatches * loss_parts(plan);
  constexpr std::int64_t kMostLosses = (std::int64_t{1} << 30) / static_cast<std::int64_t>(sizeof(double));
  return std::min(kMostRecords / most * program.body_steps, kMostLosses / losses / program.body_steps * program.body_steps);
}

std::int32_t updates_in_a_step(const Program& program) {
  std::int64_t updates = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Stream& stream : rank.streams) {
      updates += std::count_if(stream.body.begin(), stream.body.end(), [](const Instruction& i) { return i.key.op == Op::Step; });
    }
  }
  return static_cast<std::int32_t>(updates / program.body_steps);
}

Result<void> set_up(const Plan& plan, const Program& program, const RunOptions& options, LocalRun& local) {
  PENSTOCK_TRY(local.training, Training::prepare(plan, options, {.updates = updates_in_a_step(program), .round = program.body_steps,
                                                                 .most_steps = most_steps(plan, program)}));
  PENSTOCK_TRY(local.data, DataSource::open(options.data, plan.workload, options.seed));
  const auto count = program.ranks.size();
  for (std::size_t r = 0; r < count; ++r) {
    PENSTOCK_TRY(auto device, local.backend->rank_device(static_cast<std::int32_t>(r), static_cast<std::int32_t>(count)));
    local.devices.push_back(std::move(device));
  }
  std::vector<Interpreter::Setup> setups(count);
  for (std::size_t e = 0; e < program.edges.size(); ++e) {
    const ProgramEdge& edge = program.edges[e];
    CommunicatorPair pair =
        local.backend->connect(*local.devices[edge.source.index()], *local.devices[edge.destination.index()]);
    const EdgeId id(static_cast<std::int64_t>(e));
    setups[edge.source.index()].senders[id] = pair.sender.get();
    setups[edge.destination.index()].receivers[id] = pair.receiver.get();
    local.communicators.push_back(std::move(pair.sender));
    local.communicators.push_back(std::move(pair.receiver));
  }
  for (std::size_t g = 0; g < program.groups.size(); ++g) {
    std::vector<RankDevice*> members;
    for (const RankId rank : program.groups[g].ranks) members.push_back(local.devices[rank.index()].get());
    std::vector<std::unique_ptr<GroupCommunicator>> group = local.backend->assemble(members);
    for (std::size_t m = 0; m < group.size(); ++m) {
      setups[program.groups[g].ranks[m].index()].groups[GroupId(static_cast<std::int64_t>(g))] = group[m].get();
      local.groups.push_back(std::move(group[m]));
    }
  }
  for (std::size_t r = 0; r < count; ++r) {
    Interpreter::Setup& setup = setups[r];
    setup.plan = &plan;
    setup.program = &program;
    setup.rank = RankId(static_cast<std::int64_t>(r));
    setup.device = local.devices[r].get();
    setup.data = &local.data;
    setup.losses = local.training->losses();
    setup.gradient_norms = local.training->gradient_norms();
    setup.board = local.training->board();
    setup.first_step = local.training->first_step();
    setup.steps = local.training->steps();
    setup.seed = options.seed;
    PENSTOCK_TRY(auto rank, Interpreter::load(std::move(setup)));
    local.ranks.push_back(std::move(rank));
  }
  return {};
}

// One issuing thread a rank. The first failure stands.
Result<void> run_ranks(const Plan& plan, const RunOptions& options, LocalRun& local, StepGate& gate) {
  const Nanoseconds deadline = std::max(options.deadline, nanoseconds(20 * plan.iteration_time_s));
  const Watchdog watchdog(
      local.ranks, deadline, [&] { return local.backend->now(); },
      [&] {
        if (options.stop.stop_requested()) gate.close();
        local.training->report();
      });
  std::vector<Result<void>> results(local.ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < local.ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      results[r] = local.ranks[r]->run(gate);
      if (results[r]) return;
      local.backend->abort(results[r].error());
      gate.abandon();
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (const auto reason = local.backend->reason()) return fail(*reason);
  return {};
}

// Parameters by the ranks that hold them.
class RankParameters final : public ParameterAccess {
 public:
  RankParameters(const Plan& plan, const std::vector<std::unique_ptr<Interpreter>>& ranks)
      : plan_(plan), ranks_(ranks), places_(parameter_places(plan)) {}

  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override {
    ranks_[holders(parameter).front().index()]->read_parameter(places_[parameter], state, out);
  }
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override {
    for (const RankId rank : holders(parameter)) ranks_[rank.index()]->write_parameter(places_[parameter], state, values);
  }

 private:
  const std::vector<RankId>& holders(std::size_t parameter) const { return plan_.stages[places_[parameter].stage.index()].devices; }

  const Plan& plan_;
  const std::vector<std::unique_ptr<Interpreter>>& ranks_;
  std::vector<ParameterPlace> places_;
};

// Puts the spans in the order that timelines keep, and joins each SEND with its RECV.
void finish(std::vector<Interpreter::Transfer>& transfers, Timeline& timeline) {
  std::vector<std::uint32_t> order(timeline.spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Span &x = timeline.spans[a], &y = timeline.spans[b];
    return std::pair(x.track, x.start) < std::pair(y.track, y.start);
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<Span> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(timeline.spans[i]);
  }
  timeline.spans = std::move(sorted);
  std::map<std::tuple<EdgeId, std::int32_t, std::int32_t>, std::uint32_t> sends;
  const auto message = [&](const Interpreter::Transfer& t) {
    const Span& span = timeline.spans[place[t.span]];
    return std::tuple(t.edge, span.step, span.key.microbatch);
  };
  const auto is_send = [&](const Interpreter::Transfer& t) { return timeline.spans[place[t.span]].key.op == Op::Send; };
  for (const auto& t : transfers) {
    if (is_send(t)) sends[message(t)] = place[t.span];
  }
  for (const auto& t : transfers) {
    if (is_send(t)) continue;
    if (const auto from = sends.find(message(t)); from != sends.end()) {
      timeline.flows.push_back(Flow{.from = from->second, .to = place[t.span]});
    }
  }
}

}  // namespace

Result<RunResult> run(const Plan& plan, const Program& program, const RunOptions& options) {
  LocalRun local;
  PENSTOCK_TRY(local.backend, open_backend(options.backend));
  PENSTOCK_TRY_VOID(belong_together(plan, program));
  PENSTOCK_TRY_VOID(set_up(plan, program, options, local));
  Training& training = *local.training;
  RankParameters parameters(plan, local.ranks);
  PENSTOCK_TRY_VOID(training.restore(parameters));
  const auto steps = [&](std::int32_t repetitions) { return repetitions * program.body_steps; };
  StepGate gate(training.steps() / program.body_steps,
                {.ranks = static_cast<std::int32_t>(local.ranks.size()),
                 .before = [&](std::int32_t repetition) { return training.pauses_at(steps(repetition)); },
                 .attend = [&](std::int32_t repetition) { return training.pause(steps(repetition), parameters, false); }});
  training.begin();
  const Result<void> ran = run_ranks(plan, options, local, gate);
  training.report();
  if (!ran) return fail(ran.error());
  const std::int32_t done = steps(gate.repetitions());
  PENSTOCK_TRY_VOID(training.pause(done, parameters, true));

  RunResult result;
  result.backend = options.backend;
  result.instruction_set = local.devices[0]->describe().instruction_set;
  Timeline& timeline = result.timeline;
  timeline.origin = Origin::Measured;
  timeline.name = program.name;
  timeline.ranks = static_cast<std::int32_t>(local.ranks.size());
  std::vector<Interpreter::Transfer> transfers;
  for (const auto& rank : local.ranks) {
    rank->append_spans(timeline, transfers);
    timeline.peak_memory.push_back(rank->meter().highest_end());
    timeline.live_peak.push_back(rank->meter().live_peak());
  }
  finish(transfers, timeline);
  training.fill(result, done);
  timeline.weights_digest = weights_digest(plan.workload, parameters);
  return result;
}

}  // namespace penstock
