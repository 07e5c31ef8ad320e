#include "traces/analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/figures.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "core/formats/plan_format.h"
#include "planner/lower.h"
#include "traces/analysis/step_use.h"
#include "traces/report/report.h"

namespace penstock::cli {
namespace {

std::string signed_share(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

// Of two fractions: their difference, not their ratio.
std::string points(double predicted, double measured) {
  return fmt::format("{:+.1f} points", 100 * (predicted - measured));
}

// What is compared has equal digests, also where both have none.
void note_unknown_plan(Answer& answer, const Timeline& either) {
  if (either.plan_digest.empty())
    answer.note(
        "neither timeline says which plan it is of: that their instructions match is all that shows "
        "they belong together");
}

// A SEND is over when its RECV is: for people one of them is enough.
void add_ops(Answer& answer, const Comparison& comparison, bool with_sends) {
  Table& ops = answer.add_table("ops", "operations, medians",
                                {{"op", "op", {}, Align::Left},
                                 {"stage", "stage"},
                                 {"instructions", "a step"},
                                 {"predicted_s", "predicted", Unit::Seconds},
                                 {"measured_s", "measured", Unit::Seconds},
                                 {"error", "error", Unit::Fraction}});
  for (const OpComparison& op : comparison.ops) {
    if (op.op == Op::Send && !with_sends) continue;
    ops.add({name(op.op), op.stage, op.instructions, seconds(op.predicted), seconds(op.measured),
             op.error});
  }
}

void add_ranks(Answer& answer, const Comparison& comparison) {
  Table& devices = answer.add_table("devices", "devices",
                                    {{"rank", "rank"},
                                     {"predicted_busy_s", ""},
                                     {"measured_busy_s", ""},
                                     {"predicted_idle_s", ""},
                                     {"measured_idle_s", ""},
                                     {"predicted_bubble_fraction", ""},
                                     {"measured_bubble_fraction", ""},
                                     {"predicted_peak_memory_bytes", ""},
                                     {"measured_peak_memory_bytes", ""},
                                     {"predicted_live_peak_bytes", ""},
                                     {"measured_live_peak_bytes", ""}});
  for (const RankComparison& rank : comparison.ranks) {
    devices.add({rank.rank.value, seconds(rank.predicted_busy), seconds(rank.measured_busy),
                 seconds(rank.predicted_idle), seconds(rank.measured_idle), rank.predicted_bubble,
                 rank.measured_bubble, rank.predicted_peak.value, rank.measured_peak.value,
                 rank.predicted_live.value, rank.measured_live.value});
  }
}

Answer data(const Comparison& comparison, const Timeline& predicted, const Timeline& measured) {
  Answer answer("penstock.compare/1");
  answer.add("predicted_s", "", seconds(comparison.predicted));
  answer.add("measured_s", "", seconds(comparison.measured));
  answer.add("iteration_time_error", "", comparison.error);
  answer.add("predicted_bubble_fraction", "", idleness(step_use(predicted)).bubble_fraction);
  answer.add("measured_bubble_fraction", "", idleness(step_use(measured)).bubble_fraction);
  answer.add("busy_error", "", comparison.busy_error());
  answer.add("more_waiting_s", "", seconds(comparison.more_waiting()));
  answer.add("matched", "", comparison.matched);
  if (!measured.losses.empty()) {
    answer.add("first_loss", "", measured.losses.front());
    answer.add("last_loss", "", measured.losses.back());
  }
  add_ops(answer, comparison, true);
  add_ranks(answer, comparison);
  note_unknown_plan(answer, predicted);
  return answer;
}

// For people each figure stands once: by operation, by device, and in sum.
void add_time(Answer& answer, const Comparison& comparison) {
  Table& time = answer.add_table("time", "devices, in the median step",
                                 {{"rank", "rank"},
                                  {"predicted_busy", "predicted busy", Unit::Seconds},
                                  {"measured_busy", "measured", Unit::Seconds},
                                  {"predicted_idle", "predicted waiting", Unit::Seconds},
                                  {"measured_idle", "measured", Unit::Seconds},
                                  {"predicted_bubble", "predicted bubble", Unit::Fraction},
                                  {"measured_bubble", "measured", Unit::Fraction},
                                  {"points", "error"}});
  for (const RankComparison& rank : comparison.ranks) {
    time.add({rank.rank.value, seconds(rank.predicted_busy), seconds(rank.measured_busy),
              seconds(rank.predicted_idle), seconds(rank.measured_idle), rank.predicted_bubble,
              rank.measured_bubble, points(rank.predicted_bubble, rank.measured_bubble)});
  }
}

void add_memory(Answer& answer, const Comparison& comparison) {
  Table& memory = answer.add_table("memory", "devices, memory",
                                   {{"rank", "rank"},
                                    {"predicted_peak", "predicted peak", Unit::Bytes},
                                    {"measured_peak", "measured", Unit::Bytes},
                                    {"predicted_live", "predicted live peak", Unit::Bytes},
                                    {"measured_live", "measured", Unit::Bytes}});
  for (const RankComparison& rank : comparison.ranks) {
    memory.add({rank.rank.value, rank.predicted_peak.value, rank.measured_peak.value,
                rank.predicted_live.value, rank.measured_live.value});
  }
}

// One row a quantity, each cell in its own unit.
void add_summary(Answer& answer, const Comparison& comparison, const Timeline& predicted,
                 const Timeline& measured) {
  Table& table = answer.add_table("summary", "in one table",
                                  {{"quantity", "", {}, Align::Left},
                                   {"predicted", "predicted"},
                                   {"measured", "measured"},
                                   {"error", "error"}});
  const auto row = [&](const char* what, const Unit& unit, const Value& p, const Value& m) {
    const double reference = m.real();
    table.add({what, human_text(p, unit), human_text(m, unit),
               reference == 0 ? Value() : Value(signed_share((p.real() - reference) / reference))});
  };
  row("iteration time", Unit::Seconds, seconds(comparison.predicted), seconds(comparison.measured));
  double predicted_busy = 0, measured_busy = 0, predicted_idle = 0, measured_idle = 0;
  std::int64_t predicted_peak = 0, measured_peak = 0;
  for (const RankComparison& rank : comparison.ranks) {
    predicted_busy += seconds(rank.predicted_busy);
    measured_busy += seconds(rank.measured_busy);
    predicted_idle += seconds(rank.predicted_idle);
    measured_idle += seconds(rank.measured_idle);
    predicted_peak = std::max(predicted_peak, rank.predicted_peak.value);
    measured_peak = std::max(measured_peak, rank.measured_peak.value);
  }
  const double ranks = std::max(1.0, static_cast<double>(comparison.ranks.size()));
  row("busy, mean rank", Unit::Seconds, predicted_busy / ranks, measured_busy / ranks);
  row("waiting, mean rank", Unit::Seconds, predicted_idle / ranks, measured_idle / ranks);
  const double p = idleness(step_use(predicted)).bubble_fraction,
               m = idleness(step_use(measured)).bubble_fraction;
  table.add({"bubble", human_text(p, Unit::Fraction), human_text(m, Unit::Fraction), points(p, m)});
  row("peak memory of a rank", Unit::Bytes, predicted_peak, measured_peak);
  if (!measured.losses.empty()) {
    table.add({"first loss", Value(), fmt::format("{:.4f}", measured.losses.front()), Value()});
    table.add({"last loss", Value(), fmt::format("{:.4f}", measured.losses.back()), Value()});
  }
}

std::string verdict(const Comparison& comparison) {
  const double more = seconds(comparison.more_waiting());
  const std::string waiting =
      more == 0
          ? std::string("waiting is as predicted")
          : fmt::format("a rank spends {} a step {} waiting than predicted",
                        human_text(std::abs(more), Unit::Seconds), more > 0 ? "more" : "less");
  return fmt::format("The ranks' busy times differ by at most {:.1f} %; {}.",
                     100 * comparison.busy_error(), waiting);
}

Answer text_form(const Comparison& comparison, const Timeline& predicted,
                 const Timeline& measured) {
  Answer answer("penstock.compare/1");
  answer.add("matched", "matched instructions a step", comparison.matched);
  add_ops(answer, comparison, false);
  add_time(answer, comparison);
  add_memory(answer, comparison);
  add_summary(answer, comparison, predicted, measured);
  note_unknown_plan(answer, predicted);
  answer.verdict = verdict(comparison);
  return answer;
}

class CompareVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("PREDICTED", "a timeline (penstock simulate -o)", predicted_);
    flags.reads("PREDICTED", predicted_);
    flags.input("MEASURED", "a timeline of the same plan (penstock run -o)", measured_);
    flags.reads("MEASURED", measured_);
    flags.add("--fail-over", "SHARE", "exit 1 where the iteration time is off by more: 5%, or 0.05 as a fraction",
              share_into(fail_over_));
    flags.output("--report", "FILE",
                 "also write a page with both timelines, memory and tables (HTML)", report_);
    flags.add("--plan", "PLAN", "of both: for the report's memory limits, machine and costs",
              text_into(plan_));
    flags.needs("--report");
    flags.reads("--plan", plan_);
  }

  Result<Reply> run(const Shared&) override {
    PENSTOCK_TRY(const Timeline predicted, load_timeline(predicted_));
    PENSTOCK_TRY(const Timeline measured, load_timeline(measured_));
    if (predicted.origin == Origin::Measured && measured.origin == Origin::Predicted) {
      return fail(ErrorCode::Usage,
                  fmt::format("{} was measured and {} predicted", predicted_, measured_),
                  "the prediction comes first: penstock compare PREDICTED MEASURED");
    }
    PENSTOCK_TRY(const Comparison comparison, compare(predicted, measured));
    Reply reply;
    if (!report_.empty()) {
      PENSTOCK_TRY(std::string page, this->page(comparison, predicted, measured));
      reply.files.emplace_back(report_, std::move(page));
    }
    reply.json = to_json(data(comparison, predicted, measured));
    reply.text = to_text(text_form(comparison, predicted, measured));
    if (fail_over_ && std::abs(comparison.error) > *fail_over_) {
      reply.exit_code = kExitNo;
      reply.text += fmt::format("\nThe iteration time is off by {}, more than {:.4g} %.\n",
                                signed_share(comparison.error), 100 * *fail_over_);
    }
    return reply;
  }

 private:
  Result<std::string> page(const Comparison& comparison, const Timeline& predicted,
                           const Timeline& measured) const {
    ReportInput input{
        .predicted = predicted, .measured = measured, .comparison = comparison, .provenance = {}};
    Program program;
    if (!plan_.empty()) {
      PENSTOCK_TRY(const Plan plan, load_plan(plan_));
      if (plan_digest(plan) != measured.plan_digest) {
        return fail(Error{.code = ErrorCode::Infeasible,
                          .message = fmt::format("the timelines come from another plan ({}, not {})",
                                                 measured.plan_digest, plan_digest(plan)),
                          .where = {.file = plan_},
                          .hint = "give the plan that was simulated and run"});
      }
      PENSTOCK_TRY(program, lower(plan));
      input.program = &program;
      input.provenance = {{"strategy", plan.strategy},
                          {"costs", plan.costs},
                          {"costs measured on", plan.profile_machine}};
    }
    return write_report(input);
  }

  std::string predicted_, measured_, report_, plan_;
  std::optional<double> fail_over_;
};

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "set a predicted timeline against a measured one",
          .about =
              "Joins two timelines of one plan instruction by instruction: where was the "
              "prediction right, and where not?",
          .document = "",
          .examples = {"penstock compare predicted.json measured.json --report report.html --plan plan.json",
                       "penstock compare predicted.json measured.json --fail-over 5% --json"},
          .see_also = "simulate, run",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<CompareVerb>()); }};
}

}  // namespace penstock::cli
