#pragma once

// What INPUT means: a plan, a program or a timeline from a file (by its "schema"), or a schedule in
// words.

#include <string>
#include <variant>

#include "cli/schedule_input.h"
#include "core/plan.h"
#include "core/program.h"
#include "core/result.h"
#include "core/timeline.h"

namespace penstock::cli {

using AnyInput = std::variant<Plan, Program, ScheduleShape>;

// "1f1b:stages=4,microbatches=8" unless a file of that name exists; "-" is standard input. A usage
// error for what is neither; bad input for a file that is neither plan nor program.
// `shape` goes with a schedule only.
Result<AnyInput> load_input(const std::string& text, const ShapeFlags& shape = {});

// A better word on why `path` could not be read as a document of the schema `wanted`, where it holds another kind of
// document of ours, or names what is built in; else the error as it is.
Error say_kind(Error error, const std::string& path, std::string_view wanted);

Result<Plan> load_plan(const std::string& path);
Result<Timeline> load_timeline(const std::string& path);

// Lowered and proved. Infeasible, with the first violation, where it must not run.
Result<Program> sound_program(const Plan& plan);
// Warns where the plan claims another memory or iteration time than its program has, by simulating
// it as `plan` does; `check` looks at the rest. Nothing for a program above 200,000 instructions:
// that would take longer than a warning is worth.
void warn_of_stale_claims(const Plan& plan, const Program& program);
// Without `rendezvous`, deadlocks that buffered transfers avoid are let pass.
Result<void> require_sound(const Program& program, bool rendezvous = true);

}  // namespace penstock::cli
