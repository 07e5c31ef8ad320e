#include "core/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <map>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/plan_input.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "core/formats/plan_format.h"
#include "core/replicas.h"
#include "models/clusters/clusters.h"
#include "planner/search.h"
#include "profiler/profiler.h"

namespace penstock::cli {
namespace {

std::string count_text(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

// "859,648 parameters, 16 samples a step, sequence 64", or "…, images 3x32x32".
std::string workload_text(const Workload& workload) {
  std::int64_t parameters = 0;
  for (const Network& network : workload.networks) {
    for (const Layer& layer : network.layers) {
      for (const Parameter& parameter : layer.parameters) parameters += parameter.elements();
    }
  }
  std::string text = fmt::format("{} parameters, {} sample{} a step", count_text(parameters),
                                 count_text(workload.global_batch),
                                 workload.global_batch == 1 ? "" : "s");
  for (const Source& source : workload.sources) {
    const auto& dimensions = source.sample.dimensions;
    if (source.kind == SourceKind::Image)
      return text + fmt::format(", images {}", fmt::join(dimensions, "x"));
    if (source.kind != SourceKind::Text || dimensions.size() != 1) continue;
    return text + fmt::format(", sequence {}", dimensions[0]);
  }
  return text;
}

// "8 x v100, 15.7 TFLOP/s, 16.0 GiB; link 12.5 GB/s, 5.00 us": devices and links of a kind once.
// Where a profile measured the hand-off between threads, that is what the plan moves messages over.
std::string cluster_text(const Cluster& cluster, const std::optional<Profile>& profile) {
  std::vector<LinkTime> hand_offs;
  if (profile) {
    for (const LinkTime& row : profile->links)
      if (row.path == kThreadLink) hand_offs.push_back(row);
  }
  std::map<std::string, std::int64_t> devices, links;
  for (const Device& d : cluster.devices) {
    ++devices[fmt::format("{}, {}, {}", d.kind, human_text(d.peak_f32.value, Unit::FlopsPerSecond),
                          human_text(d.memory.value, Unit::Bytes))];
  }
  for (const Link& link : cluster.links) {
    if (link.name == kThreadLink && !hand_offs.empty()) {
      const LinkFit fit = fit_link(hand_offs);
      ++links[fmt::format("link {}, {}, measured", human_text(fit.bandwidth.value, Unit::BytesPerSecond),
                          human_text(seconds(fit.latency), Unit::Seconds))];
      continue;
    }
    ++links[fmt::format("link {}, {}", human_text(link.bandwidth.value, Unit::BytesPerSecond),
                        human_text(seconds(link.latency), Unit::Seconds))];
  }
  std::string text;
  for (const auto& [device, count] : devices)
    text += fmt::format("{}{} x {}", text.empty() ? "" : "; ", count, device);
  for (const auto& [link, count] : links) text += "; " + link;
  return text;
}

// What reaches a stage before its forward: the slowest of its messages; nothing of the first stage.
Value transfer_in(const Plan& plan, std::size_t stage) {
  Value slowest;
  Nanoseconds time;
  for (const PlanEdge& edge : plan.edges) {
    if (edge.to.index() != stage) continue;
    time = std::max(time, edge.activation);
    slowest = seconds(time);
  }
  return slowest;
}

// The one rank of a stage, or "0-2" for its replicas.
Value ranks_of(const PlanStage& stage) {
  if (stage.replicas == 1) return stage.devices.front().value;
  return fmt::format("{}-{}", stage.devices.front().value, stage.devices.back().value);
}

std::string replicas_text(const Plan& plan) {
  std::string counts;
  Split split = Split::Batch;
  for (const PlanStage& stage : plan.stages) {
    counts += fmt::format("{}{}", counts.empty() ? "" : ":", stage.replicas);
    if (stage.replicas > 1) split = stage.split;
  }
  return fmt::format("{}, {}", counts,
                     split == Split::Batch ? "a part of every microbatch each"
                                           : "taking turns at microbatches");
}

Answer describe(const Plan& plan, const std::optional<Profile>& profile) {
  const Certificate& certificate = plan.certificate;
  Answer answer("penstock.plan/1");
  answer.add("workload", "workload", workload_text(plan.workload));
  answer.add("cluster", "cluster", cluster_text(plan.cluster, profile));
  answer.add("p2p", "transfers", "rendezvous");
  answer.add("strategy", "strategy", plan.strategy);
  answer.add("schedule", "schedule", plan.schedule.name);
  answer.add("microbatches", "microbatches",
             fmt::format("{} of {} sample{}", plan.microbatches, plan.microbatch_size,
                         plan.microbatch_size == 1 ? "" : "s"));
  if (is_replicated(plan)) answer.add("replicas", "replicas", replicas_text(plan));
  answer.add("costs", "costs", plan.costs);
  answer.add("iteration_time_s", "iteration time", plan.iteration_time_s, Unit::Seconds);
  answer.add("throughput_samples_per_s", "throughput", plan.throughput_samples_per_s, "samples/s");
  answer.add("lower_bound_s", "lower bound", certificate.lower_bound_s, Unit::Seconds);
  answer.add("gap", "gap", certificate.gap, Unit::Fraction);
  answer.add("plan_space", "plan space", certificate.plan_space);
  answer.add("binding_constraint", "what binds", certificate.binding_constraint);
  if (certificate.runner_up) answer.add("runner_up", "runner-up", *certificate.runner_up);

  Table& stages = answer.add_table("stages", "stages: F, B+W and transfer of a microbatch, update of a step",
                                   {{"stage", "stage"},
                                    {"rank", "rank"},
                                    {"layers", "layers", {}, Align::Left},
                                    {"from", "from", {}, Align::Left},
                                    {"to", "to", {}, Align::Left},
                                    {"forward_s", "F", Unit::Seconds},
                                    {"backward_s", "B+W", Unit::Seconds},
                                    {"recompute_s", "R", Unit::Seconds},
                                    {"step_s", "update", Unit::Seconds},
                                    {"transfer_s", "transfer in", Unit::Seconds},
                                    {"parameters_bytes", "weights", Unit::Bytes},
                                    {"stash_bytes", "stash", Unit::Bytes}});
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    const Network& network = plan.workload.networks[stage.network.index()];
    const LayerId first = stage.layers.front(), last = stage.layers.back();
    stages.add({s, ranks_of(stage), fmt::format("{}-{}", first.value, last.value),
                network.layers[first.index()].name, network.layers[last.index()].name,
                seconds(stage.times.order_forward()), seconds(stage.times.backward()),
                stage.recompute.empty() ? Value() : Value(seconds(stage.times.recompute)),
                seconds(stage.times.step), transfer_in(plan, s), stage.memory.parameters.value,
                stage.memory.stash.value});
  }
  Table& devices = answer.add_table("devices", "devices",
                                    {{"rank", "rank"},
                                     {"device", "device", {}, Align::Left},
                                     {"peak_memory_bytes", "peak memory", Unit::Bytes},
                                     {"memory_limit_bytes", "limit", Unit::Bytes}});
  for (const PlanDevice& row : plan.devices) {
    devices.add({row.rank.value, plan.cluster.devices[row.device.index()].name,
                 row.peak_memory_bytes.value, row.memory_limit_bytes.value});
  }
  Table& bounds =
      answer.add_table("bounds", "no plan of the space is faster than",
                       {{"name", "bound", {}, Align::Left}, {"bound_s", "time", Unit::Seconds}});
  for (const Bound& bound : certificate.bounds) bounds.add({bound.name, bound.seconds});
  answer.verdict =
      fmt::format("{} in {} stage{}, {}: {} a step, {} of it provably needed.", plan.workload.name,
                  plan.stages.size(), plan.stages.size() == 1 ? "" : "s", plan.schedule.name,
                  human_text(plan.iteration_time_s, Unit::Seconds),
                  human_text(1 - certificate.gap, Unit::Fraction));
  return answer;
}

class PlanVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("WORKLOAD", "a built-in (penstock models) or a file", input_.workload);
    flags.reads("WORKLOAD", input_.workload);
    flags.require("--cluster", "CLUSTER",
                  "this-machine, flat:…, nodes:… (penstock clusters) or a file (cluster.toml)",
                  text_into(input_.cluster));
    flags.reads("--cluster", input_.cluster);
    flags.add("--profile", "FILE", "measured costs (default: derived from operations and bytes)",
              text_into(input_.profile));
    flags.reads("--profile", input_.profile);
    flags.add("--ranks", "N", "ranks to use (default: as many as pay)",
              count_into(input_.ranks, 1, 65'535));
    flags.add("--global-batch", "B", "samples a step (default: the workload's)",
              count_into(input_.global_batch, 1, 1'000'000'000));
    flags.add("--microbatch", "B[,B]",
              "microbatch sizes to try (default: all that divide the batch, into 16384 or fewer)",
              counts_into(input_.microbatch_sizes, 1, 1'000'000'000));
    flags.add("--schedule", "NAME[,NAME]", "schedules to try (default: all; penstock schedules)",
              schedules_into(input_.schedules));
    flags.add("--replicas", "R[,R]",
              "ranks that hold each stage, in order; 1: one each (default); any: as many as pay",
              [this](std::string_view flag, const std::string& text) -> Result<void> {
                input_.any_replicas = text == "any";
                input_.replicas.clear();
                if (input_.any_replicas) return {};
                std::string counts = text;  // "2:1", as the answer writes it, and "2,1"
                std::replace(counts.begin(), counts.end(), ':', ',');
                return counts_into(input_.replicas, 1, 256)(flag, counts);
              });
    flags.add("--split", "NAME",
              "how replicas share the batch: batch, a part of every microbatch each (default), or "
              "round_robin",
              Setter({"batch", "round_robin"}, text_into(input_.split)));
    flags.needs("--replicas");
    flags.add("--strategy", "NAME", "how to search (default auto; penstock strategies)",
              text_into(input_.strategy));
    flags.add("--memory-limit", "BYTES", "of a rank (default: the device's memory)",
              bytes_into(input_.memory_limit));
    flags.add("--recompute", "KIND[,KIND]",
              "layers whose activations are made again, not kept: kinds of layers (batch_norm,relu), "
              "all or none (default)",
              Setter(recompute_words(), text_into(input_.recompute)));
    flags.add("--precision", "NAME",
              "how activations are stored: f32 or bf16 (default: as the workload says)",
              choice_into(input_.precision));
    flags.add("--optimizer", "NAME[:K=V]",
              "sgd, adam or adamw, e.g. adamw:learning-rate=1e-3,clip=1 (default: the workload's)",
              Setter({"sgd", "adam", "adamw"}, text_into(input_.optimizer)));
  }

  Result<Reply> run(const Shared& shared) override {
    PENSTOCK_TRY(PlanRequest request, plan_request(input_));
    Progress progress(shared);
    request.stop = interrupts_.emplace().token();
    request.progress = [&](std::size_t done, std::size_t of, double best_s) {
      const std::string best =
          best_s > 0 ? fmt::format("best so far {}, candidate", human_text(best_s, Unit::Seconds))
                     : "candidate";
      progress.show(best, static_cast<std::int64_t>(done), static_cast<std::int64_t>(of));
    };
    PENSTOCK_TRY(const Plan plan, make_plan(request));
    Answer answer = describe(plan, request.profile);
    add_notes(answer, plan, request);
    const bool stopped = request.stop.stop_requested();
    if (stopped) answer.note("the search was interrupted: this is the best plan so far");
    Reply reply(answer);
    reply.json = write_plan(plan);
    reply.document = reply.json;
    if (stopped) reply.exit_code = interrupted_exit_code();
    return reply;
  }

 private:
  // What a profile warns of one size ("microbatch 4: …") concerns plans whose copies take such.
  static bool concerns(const std::string& warning, const Plan& plan) {
    constexpr std::string_view kStart = "microbatch ";
    if (!warning.starts_with(kStart)) return true;
    const std::string size = warning.substr(kStart.size(), warning.find(':') - kStart.size());
    if (size == std::to_string(plan.microbatch_size)) return true;
    return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const PlanStage& stage) {
      const bool shares = stage.replicas > 1 && stage.split == Split::Batch;
      return shares && size == std::to_string(largest_part(plan.microbatch_size, stage.replicas));
    });
  }

  void add_notes(Answer& answer, const Plan& plan, const PlanRequest& request) const {
    if (!request.profile)
      answer.note("derived: at the devices' peak rates; a profile gives what they reach");
    if (names_no_device(input_.cluster))
      answer.note(
          fmt::format("\"{}\" names no device: ranks are this machine's CPUs (device=cpu)",
                      input_.cluster));
    const bool asked_for_replicas = input_.any_replicas || !input_.replicas.empty();
    if (!asked_for_replicas && !is_replicated(plan) && request.cluster.devices.size() > 1)
      answer.note("only plans with one rank a stage were searched: --replicas any searches those with several too");
    std::size_t again = 0;
    for (const PlanStage& stage : plan.stages) again += stage.recompute.size();
    if (again > 0)
      answer.note(fmt::format("{} of {} layers keep nothing for their backward: R, in the table, runs their "
                              "forward again", again,
                              plan.layer_times.size()));
    const std::int64_t cores = identify_machine().cores;
    if (is_this_machine(input_.cluster, request.cluster) && plan.ranks() > cores) {
      answer.note(
          fmt::format("{} ranks share {} core{} of this machine: they take turns, and the times "
                      "above count that",
                      plan.ranks(), cores, cores == 1 ? "" : "s"));
    }
    if (!request.profile) return;
    for (const std::string& warning : request.profile->warnings)
      if (concerns(warning, plan)) answer.note("the profile warns: " + warning);
  }

  PlanFlags input_;
  std::optional<InterruptWatch> interrupts_;
};

}  // namespace

Command plan_command() {
  return {
      .name = "plan",
      .summary = "cut a workload into stages for a cluster",
      .about =
          "Finds how to divide a workload's layers into stages, which schedule and which "
          "microbatch to use, and proves\n"
          "how far from the best the result can be. Interrupted, it gives the best plan so far.",
      .document = "the plan",
      .examples = {"penstock plan gpt:layers=4,hidden=128 --cluster this-machine --ranks 2 "
                   "--profile profile.json -o plan.json",
                   "penstock plan gpt:layers=24,hidden=1024 --cluster cluster.toml --global-batch 64"},
      .see_also = "profile, check, simulate, run",
      .make = [] { return std::unique_ptr<Verb>(std::make_unique<PlanVerb>()); }};
}

}  // namespace penstock::cli
