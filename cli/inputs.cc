#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/file.h"
#include "core/formats/plan_format.h"
#include "core/formats/program_format.h"
#include "core/formats/timeline_format.h"
#include "core/log.h"
#include "core/program_check.h"
#include "core/random.h"
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

Result<AnyInput> load_input(const std::string& text) {
  std::error_code ignored;
  const bool is_file = text == "-" || std::filesystem::exists(text, ignored);
  if (is_file) return read_input(text);
  if (is_schedule(text)) {
    PENSTOCK_TRY(ScheduleShape shape, parse_schedule_input(text));
    return AnyInput(std::move(shape));
  }
  // What looks like a path was meant as one.
  if (text.find_first_of("/.") != std::string::npos && text.find(':') == std::string::npos)
    return read_input(text);
  auto error = parse_schedule_input(text).error();
  error.message = fmt::format("\"{}\" is neither a file nor a schedule", text);
  return fail(std::move(error));
}

Result<Plan> load_plan(const std::string& path) {
  PENSTOCK_TRY(const Value document, read_document(path));
  return plan_from(document, shown(path));
}

Result<Timeline> load_timeline(const std::string& path) {
  PENSTOCK_TRY(const Value document, read_document(path));
  return read_timeline(document, shown(path));
}

std::string plan_digest(const Plan& plan) {
  return fmt::format("{:016x}", hash(write_plan(plan)));
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
    if (claimed != program.arena[r])
      return warn(fmt::format("rank {} takes {}, not {}", r, text(program.arena[r]), text(claimed)));
  }
  const auto time = simulated_iteration_time(program);
  if (time && *time != nanoseconds(plan.iteration_time_s))
    warn(fmt::format("an iteration takes {}, not {}", text(*time),
                     text(nanoseconds(plan.iteration_time_s))));
}

Result<Program> sound_program(const Plan& plan) {
  PENSTOCK_TRY(Program program, lower(plan));
  PENSTOCK_TRY_VOID(require_sound(program));
  return program;
}

}  // namespace penstock::cli
