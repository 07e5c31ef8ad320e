#include "core/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/arguments/optimizer_input.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "core/archive.h"
#include "core/formats/profile_format.h"
#include "core/log.h"
#include "models/workloads/builders.h"
#include "models/workloads/precision.h"
#include "profiler/profiler.h"

namespace penstock::cli {
namespace {

// Medians of the operations of one layer at one microbatch, and the worst spread among them: the
// median absolute deviation, relative to the median.
struct Row {
  std::map<CostOp, Nanoseconds> medians;
  std::int64_t samples = 0;
  double spread = 0;
};

Value time_of(const Row& row, CostOp op) {
  const auto at = row.medians.find(op);
  return at == row.medians.end() ? Value() : Value(seconds(at->second));
}

void add_layers(Answer& answer, const Profile& profile) {
  std::map<std::pair<std::string, std::int64_t>, Row> rows;
  for (const LayerTime& time : profile.times) {
    if (time.op == CostOp::Step) continue;
    Row& row = rows[{time.signature, time.microbatch}];
    row.medians[time.op] = time.time.median;
    row.samples = std::max(row.samples, time.time.n);
    if (time.time.median.value > 0)
      row.spread = std::max(row.spread, seconds(time.time.mad) / seconds(time.time.median));
  }
  Table& layers = answer.add_table("layers", "layers, medians",
                                   {{"signature", "layer", {}, Align::Left},
                                    {"microbatch", "microbatch"},
                                    {"forward_s", "F", Unit::Seconds},
                                    {"backward_input_s", "B", Unit::Seconds},
                                    {"backward_weight_s", "W", Unit::Seconds},
                                    {"backward_s", "BF", Unit::Seconds},
                                    {"step_s", "step", Unit::Seconds},
                                    {"spread", "spread", Unit::Fraction},
                                    {"samples", "samples"}});
  for (const auto& [key, row] : rows) {
    const bool loss = row.medians.contains(CostOp::Loss);
    const LayerTime* step = profile.find(key.first, CostOp::Step, 0);
    layers.add({key.first, key.second, time_of(row, loss ? CostOp::Loss : CostOp::F),
                time_of(row, CostOp::B), time_of(row, CostOp::W), time_of(row, CostOp::BF),
                step == nullptr ? Value() : Value(seconds(step->time.median)), row.spread,
                row.samples});
  }
}

// Hand-offs with other messages under way: latency and bandwidth of each kind of traffic.
void add_traffic(Answer& answer, const Profile& profile) {
  std::map<std::pair<Traffic, std::int32_t>, std::vector<LinkTime>> kinds;
  for (const LinkTime& row : profile.links) kinds[{row.traffic, row.pairs}].push_back(row);
  if (kinds.size() < 2) return;
  Table& table = answer.add_table("traffic", "hand-offs beside others",
                                  {{"traffic", "traffic", {}, Align::Left},
                                   {"pairs", "pairs"},
                                   {"latency_s", "latency", Unit::Seconds},
                                   {"bandwidth", "bandwidth", Unit::BytesPerSecond}});
  for (const auto& [kind, rows] : kinds) {
    const LinkFit fit = fit_link(rows);
    table.add({std::string(enum_text(kind.first)), std::int64_t{kind.second}, seconds(fit.latency),
               fit.bandwidth.value});
  }
}

void add_contention(Answer& answer, const Profile& profile) {
  if (profile.contention.empty()) return;
  Table& table = answer.add_table("contention", "a core beside another",
                                  {{"class", "work", {}, Align::Left},
                                   {"beside", "beside", {}, Align::Left},
                                   {"alone_s", "alone", Unit::Seconds},
                                   {"together_s", "together", Unit::Seconds},
                                   {"slowdown", "slowdown"}});
  for (const ContentionTime& row : profile.contention)
    table.add({std::string(enum_text(row.work)), std::string(enum_text(row.beside)),
               seconds(row.alone.median), seconds(row.time.median), row.slowdown});
}

void add_stages(Answer& answer, const Profile& profile) {
  if (profile.stages.empty()) return;
  Table& table = answer.add_table("stages", "all layers at once",
                                  {{"op", "pass", {}, Align::Left},
                                   {"microbatch", "microbatch"},
                                   {"together_s", "together", Unit::Seconds},
                                   {"layers_s", "layers", Unit::Seconds},
                                   {"residual", "residual", Unit::Fraction}});
  for (const StageTime& row : profile.stages)
    table.add({std::string(enum_text(row.op)), row.microbatch, seconds(row.time.median),
               seconds(row.layers), row.residual()});
}

void add_fits(Answer& answer, const Profile& profile) {
  if (profile.fits.empty()) return;
  Table& table = answer.add_table(
      "fits", "base + per sample, over the sizes measured: for information, plans use measured sizes",
      {{"signature", "layer", {}, Align::Left},
       {"op", "pass", {}, Align::Left},
       {"base_s", "base", Unit::Seconds},
       {"per_sample_s", "a sample", Unit::Seconds},
       {"worst_error", "worst error", Unit::Fraction}});
  for (const LayerFit& fit : profile.fits)
    table.add({fit.signature, std::string(enum_text(fit.op)), fit.base_s, fit.per_sample_s,
               fit.worst_relative_error});
}

Answer describe(const Profile& profile) {
  Answer answer("penstock.profile/1");
  answer.add("workload", "workload", profile.workload);
  answer.add("cpu", "processor", profile.machine.cpu);
  answer.add("cores", "cores", profile.machine.cores);
  answer.add("instruction_set", "instruction set", profile.machine.instruction_set);
  if (const std::vector<LinkTime> alone = profile.links_alone("thread"); !alone.empty()) {
    const LinkFit fit = fit_link(alone);
    answer.add("link_latency_s", "hand-off latency", seconds(fit.latency), Unit::Seconds);
    answer.add("link_bandwidth", "hand-off bandwidth", fit.bandwidth.value, Unit::BytesPerSecond);
  }
  if (profile.drift) answer.add("drift", "drift", *profile.drift, Unit::Fraction);
  add_layers(answer, profile);
  add_traffic(answer, profile);
  add_contention(answer, profile);
  add_stages(answer, profile);
  add_fits(answer, profile);
  for (const std::string& warning : profile.warnings) answer.note(warning);
  return answer;
}

class ProfileVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("WORKLOAD", "a built-in (penstock models) or a file", workload_);
    flags.reads("WORKLOAD", workload_);
    flags.add("--microbatch", "B[,B]",
              "microbatch sizes to measure at, in samples (default 1,2,4,8)",
              counts_into(request_.microbatch_sizes, 1, 1'000'000));
    flags.add("--budget", "TIME", "for each microbatch size, beyond warming up (default 3s)",
              duration_into(budget_));
    flags.add("--precision", "NAME", "as plan takes it (default: as the workload says)",
              [this](std::string_view flag, const std::string& text) {
                return choice_into(precision_.emplace())(flag, text);
              });
    flags.toggle("--links", "also time hand-offs both ways at once, and between several pairs of ranks",
                 request_.link_traffic);
    flags.on_off("contention", "time what ranks do to one another (default)", "do not", request_.contention);
    flags.add("--optimizer", "NAME[:K=V]", "as plan takes it (default: the workload's)",
              text_into(optimizer_));
  }

  Result<Reply> run(const Shared& shared) override {
    PENSTOCK_TRY(Workload workload, load_workload(workload_));
    if (!optimizer_.empty()) PENSTOCK_TRY_VOID(parse_optimizer(optimizer_, workload.optimizer));
    if (precision_) set_precision(workload, *precision_);
    Progress progress(shared);
    request_.budget_s = seconds(budget_);
    request_.seed = shared.seed;
    request_.stop = interrupts_.emplace().token();
    request_.progress = [&](const std::string& what) {
      log_debug(what);
      progress.show(what);
    };
    PENSTOCK_TRY(const Profile profile, make_profile(workload, request_));
    Reply reply(describe(profile));
    reply.json = write_profile(profile);
    reply.document = reply.json;
    return reply;
  }

 private:
  std::string workload_, optimizer_;
  std::optional<Precision> precision_;
  ProfileRequest request_;
  std::optional<InterruptWatch> interrupts_;
  Nanoseconds budget_{3'000'000'000};
};

}  // namespace

Command profile_command() {
  return {
      .name = "profile",
      .summary = "measure what a workload's layers cost on this machine",
      .about =
          "Measures every distinct layer of a workload on this machine, forward, gradients and "
          "update, at several\n"
          "microbatch sizes, handing a tensor from one rank to another, and how much ranks slow one "
          "another down.\nNothing else should run meanwhile.",
      .document = "the profile",
      .examples = {"penstock profile gpt:layers=4,hidden=128 -o profile.json",
                   "penstock profile gpt:layers=4,hidden=128 --microbatch 1,2 --budget 1s --json"},
      .see_also = "plan",
      .make = [] { return std::unique_ptr<Verb>(std::make_unique<ProfileVerb>()); }};
}

}  // namespace penstock::cli
