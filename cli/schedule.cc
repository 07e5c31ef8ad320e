#include <fmt/format.h>

#include <algorithm>

#include "cli/drawing.h"
#include "cli/figures.h"
#include "cli/flags.h"
#include "cli/schedule_input.h"
#include "cli/verbs.h"
#include "sim/evaluate.h"
#include "traces/writers/svg_gantt.h"

namespace penstock::cli {
namespace {

enum class Format : std::uint8_t { Text, Csv, Json, Svg };
constexpr auto enum_names(Format) {
  return std::to_array<std::pair<Format, std::string_view>>(
      {{Format::Text, "text"}, {Format::Csv, "csv"}, {Format::Json, "json"}, {Format::Svg, "svg"}});
}

constexpr std::int32_t kMostRowsDrawn = 64;

struct Drawn {
  const Order& order;
  const Evaluator& evaluator;
  const Evaluation& evaluation;
};

Timeline timeline_of(const Drawn& drawn) {
  Timeline timeline;
  timeline.ranks = drawn.order.ranks;
  for (std::int32_t rank = 0; rank < drawn.order.ranks; ++rank) {
    timeline.tracks.push_back({.rank = RankId(rank), .lane = std::string(kComputeLane)});
    for (std::size_t i = drawn.order.first[static_cast<std::size_t>(rank)];
         i < drawn.order.first[static_cast<std::size_t>(rank) + 1]; ++i) {
      const OrderOp& op = drawn.order.ops[i];
      const InstructionKey key{.op = op.op,
                               .slice = op.slice,
                               .direction = static_cast<std::uint8_t>(op.direction),
                               .stage = op.stage,
                               .microbatch = static_cast<std::int32_t>(op.microbatch)};
      timeline.spans.push_back({.track = static_cast<std::uint32_t>(rank),
                                .step = 0,
                                .start = drawn.evaluator.starts[i],
                                .end = drawn.evaluator.ends[i],
                                .key = key,
                                .label = -1});
    }
  }
  return timeline;
}

class ScheduleVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("NAME", "a schedule (penstock schedules), its shape and parameters as NAME:key=value or as flags",
                name_);
    std::vector<std::string> names;
    for (const Schedule& schedule : schedules()) names.emplace_back(schedule.name);
    flags.offer(std::move(names));
    shape_flags_.declare(flags);
    times_.declare(flags);
    flags.add("--p2p", "HOW", "eager (default) or rendezvous", choice_into(p2p_));
    flags.add("--format", "FORMAT", "text (default), csv (one line an operation), json or svg (a picture)",
              choice_into(format_));
    declare_width(flags, columns_);
    flags_ = &flags;
  }

  Result<Reply> run(const Shared& shared) override {
    PENSTOCK_TRY(ScheduleShape chosen, parse_schedule_input(name_, shape_flags_));
    shape_ = std::move(chosen.shape);
    PENSTOCK_TRY(const Order order, emit(*chosen.schedule, shape_));
    PENSTOCK_TRY(const OrderCosts costs, times_.costs(order));
    Evaluator evaluator;
    evaluator.record = true;
    PENSTOCK_TRY(const Evaluation* evaluation, evaluator.evaluate(order, costs, p2p_));
    const Drawn drawn{order, evaluator, *evaluation};
    Reply reply(describe(*chosen.schedule, drawn, costs));
    if (order.ranks <= kMostRowsDrawn)
      reply.text = draw(timeline_of(drawn), columns_ > 0 ? columns_ : kDefaultColumns, times_.bare()) + "\n" + reply.text;
    const bool into_picture = shared.output.ends_with(".svg");
    const Format format = format_.value_or(into_picture ? Format::Svg : Format::Text);
    if (flags_->typed("--width") && (shared.json || format != Format::Text))
      return fail(ErrorCode::Usage, "--width is of the drawing in the text, and another form is asked for",
                  "leave --width out");
    const bool asked = !format_ || flags_->typed("--format");
    if (asked && (format == Format::Csv || format == Format::Svg) && shared.json) {
      return fail(ErrorCode::Usage,
                  fmt::format("--json and --format {} differ", format == Format::Csv ? "csv" : "svg"),
                  "drop one of them");
    }
    if (format == Format::Json) reply.text = reply.json;
    if (format == Format::Csv) reply.text = csv(drawn);
    if (format == Format::Svg) reply.text = svg(*chosen.schedule, drawn);
    return reply;
  }

 private:
  Value time(Nanoseconds t) const { return in_unit(seconds(t), times_.bare()); }

  Answer describe(const Schedule& schedule, const Drawn& drawn, const OrderCosts& costs) const {
    const Evaluation& e = drawn.evaluation;
    const Unit unit = unit_of_time(times_.bare());
    const Idleness idle = idleness(e.busy, e.makespan);
    const PeakActivations peaks = peak_activations(drawn.order);
    Answer answer("penstock.schedule/1");
    answer.add("schedule", "schedule", schedule.name);
    answer.add("aliases", "aliases", Value::list(schedule.aliases));
    answer.add("admits", "admits", schedule.admits);
    answer.add("stages", "stages", drawn.order.stages);
    answer.add("microbatches", "microbatches", drawn.order.microbatches);
    answer.add("p2p", "transfers", p2p_ == Discipline::Eager ? "eager" : "rendezvous");
    answer.add("makespan", "makespan", time(e.makespan), unit);
    answer.add("span", "span", time(e.span), unit);
    answer.add("lower_bound", "lower bound", time(lower_bound(drawn.order, costs)), unit);
    answer.add("bubble_fraction", "bubble", idle.bubble_fraction, Unit::Fraction);
    answer.add("idle_over_busy", "idle/busy", idle.idle_over_busy, Unit::Fraction);
    answer.add("peak_activations", "peak activations", Value::list(peaks.until_weight));
    answer.add("peak_activations_until_input_gradient", "until input gradient",
               Value::list(peaks.until_input));
    answer.add("weight_copies", "copies of the weights",
               Value::list(weight_copies(drawn.order, shape_.chunks)));
    Value::Array ranks;
    for (std::int32_t rank = 0; rank < drawn.order.ranks; ++rank) {
      std::vector<std::string> list;
      for (const OrderOp& op : drawn.order.of(RankId(rank))) list.push_back(text(op));
      ranks.push_back(Value::list(list));
    }
    answer.add("ranks", "ranks", Value(std::move(ranks)), {}, Show::DataOnly);
    return answer;
  }

  std::string csv(const Drawn& drawn) const {
    Answer answer("penstock.schedule/1");
    Table& table = answer.add_table("operations", "",
                                    {{"rank", ""},
                                     {"op", ""},
                                     {"stage", ""},
                                     {"microbatch", ""},
                                     {"slice", ""},
                                     {"start", ""},
                                     {"end", ""}});
    for (std::int32_t rank = 0; rank < drawn.order.ranks; ++rank) {
      const std::span<const OrderOp> ops = drawn.order.of(RankId(rank));
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::size_t at = drawn.order.first[static_cast<std::size_t>(rank)] + i;
        table.add({rank, name(ops[i].op), ops[i].stage,
                   static_cast<std::int64_t>(ops[i].microbatch), ops[i].slice,
                   time(drawn.evaluator.starts[at]), time(drawn.evaluator.ends[at])});
      }
    }
    return to_csv(answer);
  }

  std::string svg(const Schedule& schedule, const Drawn& drawn) const {
    Timeline timeline = timeline_of(drawn);
    timeline.name = fmt::format("{}, {} stages, {} microbatches", schedule.name,
                                drawn.order.stages, drawn.order.microbatches);
    return svg_gantt(timeline, {.bare = times_.bare()});
  }

  const Flags* flags_ = nullptr;
  std::string name_;
  ShapeFlags shape_flags_;
  Shape shape_;
  TimeFlags times_;
  Discipline p2p_ = Discipline::Eager;
  std::int32_t columns_ = 0;  // 0: not given
  std::optional<Format> format_;
};

}  // namespace

Command schedule_command() {
  return {.name = "schedule",
          .summary = "draw and measure a schedule on its own",
          .about =
              "Draws a schedule and says what it costs: makespan, idle time, activations kept. A "
              "full backward takes the\n"
              "times of both gradients. Bare numbers are in a unit of your own, and so are the "
              "results.",
          .document = "",
          .examples = {"penstock schedule 1f1b:stages=4,microbatches=8",
                       "penstock schedule gpipe --stages 4 --microbatches 8 --forward 1ms "
                       "--backward-input 1ms --backward-weight 1ms --json"},
          .see_also = "schedules, simulate, check",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<ScheduleVerb>()); }};
}

}  // namespace penstock::cli
