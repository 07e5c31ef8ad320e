#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "core/program_check.h"
#include "planner/certificate.h"
#include "planner/lower.h"

namespace penstock::cli {
namespace {

struct Findings {
  std::string what;  // "the plan", …
  std::vector<Violation> violations;
  bool can_run = true;  // what is wrong, if anything, is only what a plan claims of itself
  bool proves_memory = true;
  std::size_t ranks = 0, instructions = 0;

  void add(const std::vector<Violation>& found) {
    for (const Violation& violation : found) {
      if (std::find(violations.begin(), violations.end(), violation) == violations.end())
        violations.push_back(violation);
    }
  }
  void add(const Program& program) {
    ranks = program.ranks.size();
    instructions = program.instruction_count();
    proves_memory = penstock::proves_memory(program);
    const std::vector<Violation> found = check(program);
    can_run = can_run && found.empty();
    add(found);
  }
};

Findings examine(const Plan& plan) {
  Findings findings{.what = "the plan", .violations = verify(plan)};
  const auto program = lower(plan);
  if (program) {
    findings.add(*program);
  } else {
    findings.can_run = false;
    findings.add({Violation{
        .rule = "lowering", .message = program.error().text(), .ranks = {}, .instructions = {}}});
  }
  return findings;
}

Findings examine(const Program& program) {
  Findings findings{.what = "the program", .violations = {}};
  findings.add(program);
  return findings;
}

// Of a bare schedule the order is proved, then the program that it becomes.
Result<Findings> examine(const ScheduleShape& shape) {
  PENSTOCK_TRY(const Order order, emit(*shape.schedule, shape.shape));
  Findings findings{.what = "the schedule", .violations = check(order)};
  findings.can_run = findings.violations.empty();
  if (findings.violations.empty()) {
    const Nanoseconds one(1);
    findings.add(
        lower(with_steps(order), OrderCosts::uniform(order, one, one, one, one), Bytes(0)));
  }
  return findings;
}

std::string verdict(const Findings& findings) {
  const std::size_t count = findings.violations.size();
  const std::string counted = fmt::format("{} violation{}", count, count == 1 ? "" : "s");
  if (count == 0) {
    return fmt::format(
        "Sound: every operation runs once, in order, without deadlock{}; {} can run.",
        findings.proves_memory ? ", within memory"
                               : " (memory is not said: there is no model)",
        findings.what);
  }
  if (!findings.can_run) return fmt::format("Not sound: {}; {} must not run.", counted, findings.what);
  return fmt::format(
      "Claims that do not hold: {}. The program itself is sound and can run, but {} does not say the "
      "truth of it: plan again.",
      counted, findings.what);
}

Answer describe(const Findings& findings) {
  const bool ok = findings.violations.empty();
  Answer answer("penstock.check/1");
  answer.add("ok", "sound", ok);
  answer.add("can_run", "can run", findings.can_run, {},
             findings.can_run == ok ? Show::DataOnly : Show::Always);
  answer.add("memory_proved", "memory proved", findings.proves_memory, {},
             findings.proves_memory ? Show::DataOnly : Show::Always);
  answer.add("ranks_checked", "ranks", findings.ranks);
  answer.add("instructions", "instructions", findings.instructions);
  Table& table = answer.add_table("violations", "violations",
                                  {{"rule", "rule", {}, Align::Left},
                                   {"message", "what is wrong", {}, Align::Left},
                                   {"ranks", "ranks", {}, Align::Left},
                                   {"instructions", "instructions", {}, Align::Left}});
  if (ok) table.show = Show::DataOnly;
  for (const Violation& violation : findings.violations) {
    std::vector<std::int32_t> ranks;
    for (const RankId rank : violation.ranks) ranks.push_back(rank.value);
    table.add({violation.rule, violation.message, Value::list(ranks),
               Value::list(violation.instructions)});
  }
  answer.verdict = verdict(findings);
  return answer;
}

class CheckVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("INPUT", "a plan, a program, or a schedule as 1f1b:stages=4,microbatches=8",
                input_);
    flags.reads("INPUT", input_);
    shape_.declare(flags);
  }

  Result<Reply> run(const Shared&) override {
    PENSTOCK_TRY(const AnyInput input, load_input(input_, shape_));
    Findings findings;
    if (const Plan* plan = std::get_if<Plan>(&input)) {
      findings = examine(*plan);
    } else if (const Program* program = std::get_if<Program>(&input)) {
      findings = examine(*program);
    } else {
      PENSTOCK_TRY(findings, examine(std::get<ScheduleShape>(input)));
    }
    Reply reply(describe(findings));
    if (!findings.violations.empty()) reply.exit_code = kExitNo;
    return reply;
  }

 private:
  std::string input_;
  ShapeFlags shape_;
};

}  // namespace

Command check_command() {
  return {.name = "check",
          .summary = "prove a plan, a program or a schedule sound, or say why not",
          .about =
              "Proves that every operation runs once and in order, that all transfers meet, that "
              "nothing deadlocks under\n"
              "buffered and rendezvous transfers, and that memory suffices; of a plan also what it "
              "claims of itself.",
          .document = "",
          .examples = {"penstock check plan.json", "penstock check 1f1b:stages=4,microbatches=8"},
          .see_also = "plan, simulate",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<CheckVerb>()); }};
}

}  // namespace penstock::cli
