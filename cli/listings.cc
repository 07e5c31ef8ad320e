// schedules, models, clusters, strategies: what is built in, as its own tables describe it.

#include <fmt/format.h>

#include "cli/flags.h"
#include "cli/verbs.h"
#include "models/clusters/clusters.h"
#include "models/clusters/device_kinds.h"
#include "models/workloads/builders.h"
#include "planner/schedules/schedule.h"
#include "planner/strategies.h"

namespace penstock::cli {
namespace {

// A verb that lists all there is, or says more of the one that is named.
template <Answer (*kAll)(), Result<Answer> (*kOne)(const std::string&),
          std::vector<std::string> (*kNames)()>
class Listing : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.optional_input("NAME", "say more of this one", name_);
    flags.offer(kNames());
  }
  Result<Reply> run(const Shared&) override {
    if (name_.empty()) return Reply(kAll());
    PENSTOCK_TRY(const Answer answer, kOne(name_));
    return Reply(answer);
  }

 private:
  std::string name_;
};

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

tl::unexpected<Error> unknown(std::string_view what, const std::string& name,
                              const std::vector<std::string>& names) {
  const std::string_view meant = nearest(name, names);
  return fail(ErrorCode::Usage, fmt::format("there is no {} \"{}\"", what, name),
              meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                            : fmt::format("did you mean {}?", meant));
}

Answer list_schedules() {
  Answer answer("penstock.schedules/1");
  Table& table = answer.add_table("schedules", "",
                                  {{"name", "name", {}, Align::Left},
                                   {"aliases", "aliases", {}, Align::Left},
                                   {"parameters", "parameters", {}, Align::Left},
                                   {"admits", "admits", {}, Align::Left},
                                   {"about", "about", {}, Align::Left},
                                   {"source", "source", {}, Align::Left}});
  for (const Schedule& schedule : schedules()) {
    std::vector<std::string> parameters;
    for (const ScheduleParameter& parameter : schedule.parameters)
      parameters.emplace_back(parameter.name);
    table.add({schedule.name, Value::list(schedule.aliases), Value::list(parameters),
               schedule.admits, schedule.about, schedule.source});
  }
  return answer;
}

Result<Answer> describe_schedule(const std::string& name) {
  PENSTOCK_TRY(const ChosenSchedule chosen, find_schedule(name));
  const Schedule& schedule = *chosen.schedule;
  Answer answer("penstock.schedules/1");
  answer.add("name", "name", schedule.name);
  answer.add("aliases", "aliases", Value::list(schedule.aliases));
  answer.add("admits", "admits", schedule.admits);
  answer.add("about", "about", schedule.about);
  answer.add("source", "source", schedule.source);
  Table& table = answer.add_table(
      "parameters", "parameters",
      {{"name", "name", {}, Align::Left}, {"meaning", "meaning", {}, Align::Left}});
  for (const ScheduleParameter& parameter : schedule.parameters)
    table.add({parameter.name, parameter.meaning});
  return answer;
}

Answer list_models() {
  Answer answer("penstock.models/1");
  Table& table = answer.add_table("models", "",
                                  {{"name", "name", {}, Align::Left},
                                   {"parameters", "parameters and defaults", {}, Align::Left},
                                   {"about", "about", {}, Align::Left}});
  for (const WorkloadBuilder& builder : workload_builders()) {
    std::vector<std::string> parameters;
    for (const BuilderParameter& parameter : builder.parameters) {
      parameters.push_back(fmt::format("{}={}", parameter.name, parameter.default_value));
    }
    table.add({builder.name, Value::list(parameters), builder.about});
  }
  return answer;
}

// With parameters, "gpt:layers=4", what they make it.
Result<Answer> describe_model(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const WorkloadBuilder& builder : workload_builders()) {
    if (builder.name != name) continue;
    PENSTOCK_TRY(const Workload workload, build_workload(text));
    std::int64_t layers = 0, weights = 0;
    for (const Network& network : workload.networks) {
      layers += static_cast<std::int64_t>(network.layers.size());
      for (const Layer& layer : network.layers)
        for (const Parameter& parameter : layer.parameters) weights += parameter.elements();
    }
    Answer answer("penstock.models/1");
    answer.add("name", "name", builder.name);
    answer.add("about", "about", builder.about);
    answer.add("layers", "layers", layers);
    answer.add("weights", "weights", weights);
    answer.add("global_batch", "samples a step", workload.global_batch);
    Table& table = answer.add_table("parameters", "parameters",
                                    {{"name", "name", {}, Align::Left},
                                     {"default", "default"},
                                     {"least", "least"},
                                     {"greatest", "greatest"},
                                     {"meaning", "meaning", {}, Align::Left}});
    for (const BuilderParameter& parameter : builder.parameters)
      table.add({parameter.name, parameter.default_value, parameter.least, parameter.greatest,
                 parameter.meaning});
    return answer;
  }
  return unknown("model", name, names_of(workload_builders()));
}

Answer list_clusters() {
  Answer answer("penstock.clusters/1");
  Table& table = answer.add_table("clusters", "",
                                  {{"name", "name", {}, Align::Left},
                                   {"form", "written", {}, Align::Left},
                                   {"about", "about", {}, Align::Left}});
  for (const ClusterForm& form : cluster_forms()) table.add({form.name, form.form, form.about});
  return answer;
}

Result<Answer> describe_cluster(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const ClusterForm& form : cluster_forms()) {
    if (form.name != name) continue;
    Answer answer("penstock.clusters/1");
    answer.add("name", "name", form.name);
    answer.add("form", "written", form.form);
    answer.add("about", "about", form.about);
    if (name == "this-machine") return answer;
    Table& table = answer.add_table("device_kinds", "device=",
                                    {{"name", "name", {}, Align::Left},
                                     {"memory_bytes", "memory", Unit::Bytes},
                                     {"peak_f32", "peak, f32", Unit::FlopsPerSecond},
                                     {"memory_bandwidth", "memory bandwidth", Unit::BytesPerSecond},
                                     {"about", "about", {}, Align::Left}});
    for (const DeviceKind& kind : device_kinds())
      table.add({kind.name, kind.memory.value > 0 ? Value(kind.memory.value) : Value(),
                 kind.peak_f32.value, kind.memory_bandwidth.value, kind.about});
    return answer;
  }
  return unknown("form of a cluster", name, names_of(cluster_forms()));
}

Answer list_strategies() {
  Answer answer("penstock.strategies/1");
  Table& table = answer.add_table("strategies", "",
                                  {{"name", "name", {}, Align::Left},
                                   {"source", "source", {}, Align::Left},
                                   {"about", "about", {}, Align::Left}});
  for (const Strategy& strategy : strategies())
    table.add({strategy.name, strategy.source, strategy.about});
  return answer;
}

Result<Answer> describe_strategy(const std::string& name) {
  PENSTOCK_TRY(const Strategy* const strategy, find_strategy(name));
  Answer answer("penstock.strategies/1");
  answer.add("name", "name", strategy->name);
  answer.add("source", "source", strategy->source);
  answer.add("about", "about", strategy->about);
  return answer;
}

std::vector<std::string> schedule_names() {
  return names_of(schedules());
}
std::vector<std::string> model_names() {
  return names_of(workload_builders());
}
std::vector<std::string> cluster_names() {
  return names_of(cluster_forms());
}
std::vector<std::string> strategy_names() {
  return names_of(strategies());
}

template <Answer (*kAll)(), Result<Answer> (*kOne)(const std::string&),
          std::vector<std::string> (*kNames)()>
std::unique_ptr<Verb> make() {
  return std::make_unique<Listing<kAll, kOne, kNames>>();
}

}  // namespace

Command schedules_command() {
  return {.name = "schedules",
          .summary = "list the schedules that are built in",
          .about =
              "Lists the schedules that --schedule, simulate, check and schedule take, and which "
              "shapes each admits.",
          .document = "",
          .examples = {"penstock schedules", "penstock schedules 1f1b --json"},
          .see_also = "schedule",
          .make = make<list_schedules, describe_schedule, schedule_names>};
}

Command models_command() {
  return {.name = "models",
          .summary = "list the workloads that are built in",
          .about =
              "Lists the workloads that can be named without a file, with their parameters and "
              "defaults; of one that is named,\n"
              "also what its parameters mean and how large it gets.",
          .document = "",
          .examples = {"penstock models", "penstock models gpt:layers=24,hidden=1024"},
          .see_also = "profile, plan",
          .make = make<list_models, describe_model, model_names>};
}

Command clusters_command() {
  return {.name = "clusters",
          .summary = "list the forms in which a cluster can be written",
          .about =
              "Lists the ways to write a cluster without a file; of one that is named, also the kinds "
              "of devices.",
          .document = "",
          .examples = {"penstock clusters", "penstock clusters flat"},
          .see_also = "plan",
          .make = make<list_clusters, describe_cluster, cluster_names>};
}

Command strategies_command() {
  return {.name = "strategies",
          .summary = "list the ways to search for a plan",
          .about = "Lists what --strategy of plan takes: what each searches for, and where it comes from.",
          .document = "",
          .examples = {"penstock strategies", "penstock strategies --json"},
          .see_also = "plan",
          .make = make<list_strategies, describe_strategy, strategy_names>};
}

}  // namespace penstock::cli
