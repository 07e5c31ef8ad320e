#include "traces/analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/figures.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/verbs.h"

namespace penstock::cli {
namespace {

std::string signed_share(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

void add_ops(Answer& answer, const Comparison& comparison) {
  Table& ops = answer.add_table("ops", "operations, medians",
                                {{"op", "op", {}, Align::Left},
                                 {"stage", "stage"},
                                 {"instructions", "a step"},
                                 {"predicted_s", "predicted", Unit::Seconds},
                                 {"measured_s", "measured", Unit::Seconds},
                                 {"error", "error", Unit::Fraction}});
  for (const OpComparison& op : comparison.ops) {
    ops.add({name(op.op), op.stage, op.instructions, seconds(op.predicted), seconds(op.measured),
             op.error});
  }
}

void add_ranks(Answer& answer, const Comparison& comparison) {
  Table& devices =
      answer.add_table("devices", "devices",
                       {{"rank", "rank"},
                        {"predicted_bubble_fraction", "predicted bubble", Unit::Fraction},
                        {"measured_bubble_fraction", "measured", Unit::Fraction},
                        {"predicted_peak_memory_bytes", "predicted peak", Unit::Bytes},
                        {"measured_peak_memory_bytes", "measured", Unit::Bytes},
                        {"predicted_live_peak_bytes", "predicted live peak", Unit::Bytes},
                        {"measured_live_peak_bytes", "measured", Unit::Bytes}});
  for (const RankComparison& rank : comparison.ranks) {
    devices.add({rank.rank.value, rank.predicted_bubble, rank.measured_bubble,
                 rank.predicted_peak.value, rank.measured_peak.value, rank.predicted_live.value,
                 rank.measured_live.value});
  }
}

// The table for people: one row a quantity, each cell in its own unit.
std::string summary(const Comparison& comparison, const Timeline& predicted,
                    const Timeline& measured) {
  Answer answer("penstock.compare/1");
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
  row("bubble", Unit::Fraction, idleness(rank_use(predicted)).bubble_fraction,
      idleness(rank_use(measured)).bubble_fraction);
  std::int64_t predicted_peak = 0, measured_peak = 0;
  for (const RankComparison& rank : comparison.ranks) {
    predicted_peak = std::max(predicted_peak, rank.predicted_peak.value);
    measured_peak = std::max(measured_peak, rank.measured_peak.value);
  }
  row("peak memory of a rank", Unit::Bytes, predicted_peak, measured_peak);
  if (!measured.losses.empty()) {
    table.add({"first loss", Value(), fmt::format("{:.4f}", measured.losses.front()), Value()});
    table.add({"last loss", Value(), fmt::format("{:.4f}", measured.losses.back()), Value()});
  }
  return to_text(answer);
}

class CompareVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("PREDICTED", "a timeline (penstock simulate -o)", predicted_);
    flags.input("MEASURED", "a timeline of the same plan (penstock run -o)", measured_);
    flags.add("--fail-over", "SHARE", "exit 1 where the iteration time is off by more, e.g. 5%",
              share_into(fail_over_));
  }

  Result<Reply> run(const Shared&) override {
    PENSTOCK_TRY(const Timeline predicted, load_timeline(predicted_));
    PENSTOCK_TRY(const Timeline measured, load_timeline(measured_));
    PENSTOCK_TRY(const Comparison comparison, compare(predicted, measured));
    Answer answer("penstock.compare/1");
    answer.add("predicted_s", "predicted iteration time", seconds(comparison.predicted),
               Unit::Seconds);
    answer.add("measured_s", "measured iteration time", seconds(comparison.measured),
               Unit::Seconds);
    answer.add("iteration_time_error", "error", comparison.error, Unit::Fraction);
    answer.add("predicted_bubble_fraction", "predicted bubble",
               idleness(rank_use(predicted)).bubble_fraction, Unit::Fraction, Show::DataOnly);
    answer.add("measured_bubble_fraction", "measured bubble",
               idleness(rank_use(measured)).bubble_fraction, Unit::Fraction, Show::DataOnly);
    answer.add("matched", "matched instructions a step", comparison.matched);
    if (!measured.losses.empty()) {
      answer.add("first_loss", "first loss", measured.losses.front(), {}, Show::DataOnly);
      answer.add("last_loss", "last loss", measured.losses.back(), {}, Show::DataOnly);
    }
    add_ops(answer, comparison);
    add_ranks(answer, comparison);
    Reply reply(answer);
    reply.text += "\n" + summary(comparison, predicted, measured);
    if (fail_over_ && std::abs(comparison.error) > *fail_over_) {
      reply.exit_code = kExitNo;
      reply.text += fmt::format("\nThe iteration time is off by {}, more than {:.4g} %.\n",
                                signed_share(comparison.error), 100 * *fail_over_);
    }
    return reply;
  }

 private:
  std::string predicted_, measured_;
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
          .examples = {"penstock compare predicted.json measured.json",
                       "penstock compare predicted.json measured.json --fail-over 5% --json"},
          .see_also = "simulate, run",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<CompareVerb>()); }};
}

}  // namespace penstock::cli
