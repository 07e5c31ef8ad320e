#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/contrast.h"
#include "core/file.h"
#include "core/formats/plan_format.h"
#include "core/formats/program_format.h"
#include "core/formats/timeline_format.h"
#include "core/log.h"
#include "core/program_check.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/lower.h"
#include "planner/predict.h"

namespace penstock::cli {
namespace {

std::string shown(const std::string& path) {
  return path == "-" ? "<stdin>" : path;
}

// "penstock.plan" of "penstock.plan/1"; "" where the document does not say.
std::string kind_of(const Value& document) {
  const Value* schema = document.is_object() ? document.find("schema") : nullptr;
  if (schema == nullptr || !schema->is_string()) return "";
  return schema->string().substr(0, schema->string().rfind('/'));
}

std::string kind_of(std::string_view schema) {
  return std::string(schema.substr(0, schema.rfind('/')));
}

Result<AnyInput> read_input(const std::string& path) {
  PENSTOCK_TRY(const Value document, read_document(path));
  const std::string kind = kind_of(document);
  if (kind == kind_of(kPlanSchema)) {
    PENSTOCK_TRY(Plan plan, plan_from(document, shown(path)));
    return AnyInput(std::move(plan));
  }
  if (kind == kind_of(kProgramSchema)) {
    PENSTOCK_TRY(Program program, read_program(document, shown(path)));
    return AnyInput(std::move(program));
  }
  return fail(Error{
      .code = ErrorCode::BadInput,
      .message = kind.empty() ? std::string("neither a plan nor a program: it has no \"schema\"")
                              : fmt::format("neither a plan nor a program, but a {}", kind),
      .where = {.file = shown(path),
                .line = static_cast<int>(document.line()),
                .column = static_cast<int>(document.column())},
      .hint = "penstock plan makes plans; timelines are for compare"});
}

}  // namespace

namespace {

// "a plan", and how one is made.
struct Kind {
  std::string_view schema, what, made_by;
};
constexpr Kind kKinds[] = {
    {"penstock.plan", "a plan", "penstock plan WORKLOAD --cluster CLUSTER -o plan.json makes one"},
    {"penstock.timeline", "a timeline", "penstock simulate PLAN -o and penstock run PLAN -o make timelines"},
    {"penstock.profile", "a profile", "penstock profile WORKLOAD -o profile.json makes one"},
    {"penstock.program", "a program", "penstock plan makes plans, which serve as well"},
    {"penstock.workload", "a workload", "penstock models lists those that are built in"},
    {"penstock.cluster", "a cluster", "penstock clusters lists the ways to write one"},
    {"penstock.metrics", "a metrics file", "penstock run PLAN --metrics FILE makes one"}};

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.schema == name) return &kind;
  }
  return nullptr;
}

// "a workload" where the words before the colon name one that is built in; "" if they name nothing.
std::string_view built_in(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const WorkloadBuilder& builder : workload_builders()) {
    if (builder.name == name) return "a workload";
  }
  for (const ClusterForm& form : cluster_forms()) {
    if (form.name == name) return "a cluster";
  }
  return is_schedule(text) ? "a schedule" : "";
}

}  // namespace

Error say_kind(Error error, const std::string& path, std::string_view wanted) {
  const Kind* const needed = find_kind(kind_of(wanted));
  if (path == "-" || needed == nullptr) return error;
  std::error_code ignored;
  std::string_view given = built_in(path);
  if (std::filesystem::is_regular_file(path, ignored)) {
    const auto document = read_document(path);
    const Kind* const found = document ? find_kind(kind_of(*document)) : nullptr;
    if (found == nullptr || found == needed) return error;
    given = found->what;
  } else if (given.empty() || given == needed->what) {
    return error;
  }
  error.where = {.file = path};
  error.message = fmt::format("this is {}, and {} is needed", given, needed->what);
  error.hint = needed->made_by;
  return error;
}

Result<AnyInput> load_input(const std::string& text, const ShapeFlags& shape) {
  std::error_code ignored;
  const bool is_file = text == "-" || std::filesystem::exists(text, ignored);
  if (!is_file && is_schedule(text)) {
    PENSTOCK_TRY(ScheduleShape parsed, parse_schedule_input(text, shape));
    return AnyInput(std::move(parsed));
  }
  if (is_file && shape.typed())
    return fail(ErrorCode::Usage, fmt::format("{} has a shape of its own", text),
                "--stages, --microbatches, --chunks and --slices go with a schedule's name");
  if (is_file) {
    auto input = read_input(text);
    return input ? std::move(input) : fail(say_kind(std::move(input.error()), text, kPlanSchema));
  }
  // What looks like a path was meant as one.
  if (text.find_first_of("/.") != std::string::npos && text.find(':') == std::string::npos)
    return read_input(text);
  auto error = parse_schedule_input(text).error();
  error.message = fmt::format("\"{}\" is neither a file nor a schedule", text);
  return fail(say_kind(std::move(error), text, kPlanSchema));
}

Result<Plan> load_plan(const std::string& path) {
  const auto document = read_document(path);
  if (!document) return fail(say_kind(document.error(), path, kPlanSchema));
  auto plan = plan_from(*document, shown(path));
  return plan ? std::move(plan) : fail(say_kind(std::move(plan.error()), path, kPlanSchema));
}

Result<Timeline> load_timeline(const std::string& path) {
  const auto document = read_document(path);
  if (!document) return fail(say_kind(document.error(), path, kTimelineSchema));
  auto timeline = read_timeline(*document, shown(path));
  return timeline ? std::move(timeline) : fail(say_kind(std::move(timeline.error()), path, kTimelineSchema));
}

Result<void> require_sound(const Program& program, bool rendezvous) {
  const std::vector<Violation> violations = check(program, {.rendezvous = rendezvous});
  if (violations.empty()) return {};
  const Violation& first = violations.front();
  return fail(ErrorCode::Infeasible,
              fmt::format("the program is not sound: {}: {}", first.rule, first.message),
              "penstock check lists everything that is wrong");
}

void warn_of_stale_claims(const Plan& plan, const Program& program) {
  constexpr std::size_t kCheap = 200'000;
  if (program.instruction_count() > kCheap) return;
  const auto warn = [](const std::string& what) {
    log_warning(fmt::format("the plan's claims do not hold: {}; penstock check says more", what));
  };
  for (std::size_t r = 0; r < plan.devices.size() && r < program.arena.size(); ++r) {
    const Bytes claimed = plan.devices[r].peak_memory_bytes;
    if (claimed == program.arena[r]) continue;
    const auto [taken, said] = contrast(program.arena[r], claimed);
    return warn(fmt::format("rank {} takes {}, not {}", r, taken, said));
  }
  const auto time = simulated_iteration_time(program);
  if (!time || *time == nanoseconds(plan.iteration_time_s)) return;
  const auto [taken, said] = contrast(*time, nanoseconds(plan.iteration_time_s));
  warn(fmt::format("an iteration takes {}, not {}", taken, said));
}

Result<Program> sound_program(const Plan& plan) {
  PENSTOCK_TRY(Program program, lower(plan));
  PENSTOCK_TRY_VOID(require_sound(program));
  return program;
}

}  // namespace penstock::cli
