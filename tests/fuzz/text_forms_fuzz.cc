// What the command line is told in words: the first byte chooses of what kind the rest is.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/arguments/optimizer_input.h"
#include "cli/schedule_input.h"
#include "core/formats/cluster_format.h"
#include "core/formats/workload_format.h"
#include "core/program_check.h"
#include "models/clusters/clusters.h"
#include "models/text_form.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "sim/evaluate.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

// Counts of five digits and more only where they are sizes, not numbers of things to make.
bool makes_few(const TextForm& form) {
  if (form.argument.size() > 3) return false;
  return std::all_of(form.settings.begin(), form.settings.end(), [](const Setting& setting) {
    return setting.value.size() <= 2 ||
           (setting.key.find("layers") == std::string::npos && setting.key.find("blocks") == std::string::npos &&
            setting.key.find("depth") == std::string::npos && setting.key.find("levels") == std::string::npos);
  });
}

void form(const TextForm& form) {
  std::string written = form.name;
  char separator = ':';
  const auto add = [&](const std::string& item) { written += std::exchange(separator, ',') + item; };
  if (!form.argument.empty()) add(form.argument);
  for (const Setting& setting : form.settings) add(setting.key + "=" + setting.value);
  const auto again = parse_text_form(written);
  require_value(again, "a text form reads back");
  require(again->name == form.name && again->argument == form.argument && again->settings.size() == form.settings.size(),
          "a text form reads back equal", written);
}

void workload(std::string_view text) {
  const Result<Workload> built = build_workload(text);
  if (!built) return require_refusal(built.error());
  const std::string json = write_workload(*built);
  require(require_value(read_workload(json, "w.json"), "a built workload reads back") == *built, "and equal", json);
  const auto named = build_workload(built->name);
  require(fingerprint(require_value(named, "the name of a workload builds it")) == fingerprint(*built),
          "the name of a workload builds the same", built->name);
}

void cluster(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  if (name != "flat" && name != "nodes") return;
  const Result<Cluster> built = load_cluster(std::string(text));
  if (!built) return require_refusal(built.error());
  const std::string json = write_cluster(*built);
  require(require_value(read_cluster(json, "c.json"), "an inline cluster reads back") == *built, "and equal", json);
}

void optimizer(const std::string& text) {
  static const Workload workload = require_value(build_workload("mlp:layers=1,width=2,input=2"), "the workload is one");
  Workload with = workload;
  if (const auto parsed = cli::parse_optimizer(text, with.optimizer); !parsed) return require_refusal(parsed.error());
  const std::string json = write_workload(with);
  require(require_value(read_workload(json, "w.json"), "an optimizer reads back") == with, "an optimizer reads back equal",
          json);
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, std::int64_t{1} << 40}) {
    const double rate = learning_rate_at(with.optimizer, step);
    require(std::isfinite(rate) && rate >= 0, "a learning rate is a number");
  }
}

void schedule(const std::string& text) {
  const auto shape = cli::parse_schedule_input(text);
  if (!shape) return require_refusal(shape.error());
  if (std::int64_t{shape->shape.stages} * shape->shape.microbatches * shape->shape.chunks > 1024 ||
      shape->shape.slices > 4)
    return;
  const Result<Order> order = emit(*shape->schedule, shape->shape);
  if (!order) return require_refusal(order.error());
  for (const Violation& violation : check(*order)) require(false, "an emitted order is sound", violation.message);
  const OrderCosts costs = OrderCosts::uniform(*order, Nanoseconds(10), Nanoseconds(11), Nanoseconds(12), Nanoseconds(1));
  const Program program = lower(with_steps(*order), costs, Bytes(0));
  for (const Violation& violation : check(program)) require(false, "an emitted order is lowered soundly", violation.message);
  exercise(program);
}

void run(std::uint8_t kind, std::string_view text) {
  const Result<TextForm> parsed = parse_text_form(text);
  if (parsed) form(*parsed);
  if (parsed && !makes_few(*parsed)) return;
  switch (kind % 4) {
    case 0:
      return workload(text);
    case 1:
      return cluster(text);
    case 2:
      return optimizer(std::string(text));
    default:
      return schedule(std::string(text));
  }
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) penstock::fuzz::run(data[0], penstock::fuzz::text(data + 1, size - 1));
  return 0;
}
