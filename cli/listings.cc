// schedules, models, clusters: what is built in, as its own tables describe it.

#include <fmt/format.h>

#include "cli/flags.h"
#include "cli/verbs.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/schedules/schedule.h"

namespace penstock::cli {
namespace {

// A verb without inputs and flags.
template <Answer (*kAnswer)()>
class Listing : public Verb {
 public:
  void declare(Flags&) override {}
  Result<Reply> run(const Shared&) override { return Reply(kAnswer()); }
};

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

Answer list_clusters() {
  Answer answer("penstock.clusters/1");
  Table& table = answer.add_table("clusters", "",
                                  {{"name", "name", {}, Align::Left},
                                   {"form", "written", {}, Align::Left},
                                   {"about", "about", {}, Align::Left}});
  for (const ClusterForm& form : cluster_forms()) table.add({form.name, form.form, form.about});
  return answer;
}

template <Answer (*kAnswer)()>
std::unique_ptr<Verb> make() {
  return std::make_unique<Listing<kAnswer>>();
}

}  // namespace

Command schedules_command() {
  return {.name = "schedules",
          .summary = "list the schedules that are built in",
          .about =
              "Lists the schedules that --schedule, simulate, check and schedule take, and which "
              "shapes each admits.",
          .document = "",
          .examples = {"penstock schedules", "penstock schedules --json"},
          .see_also = "schedule",
          .make = make<list_schedules>};
}

Command models_command() {
  return {.name = "models",
          .summary = "list the workloads that are built in",
          .about =
              "Lists the workloads that can be named without a file, with their parameters and "
              "defaults.",
          .document = "",
          .examples = {"penstock models", "penstock models --json"},
          .see_also = "profile, plan",
          .make = make<list_models>};
}

Command clusters_command() {
  return {.name = "clusters",
          .summary = "list the forms in which a cluster can be written",
          .about = "Lists the ways to write a cluster without a file.",
          .document = "",
          .examples = {"penstock clusters", "penstock clusters --json"},
          .see_also = "plan",
          .make = make<list_clusters>};
}

}  // namespace penstock::cli
