#include <fmt/format.h>

#include "cli/drawing.h"
#include "cli/figures.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/verbs.h"
#include "core/formats/plan_format.h"
#include "core/formats/timeline_format.h"
#include "models/clusters/clusters.h"
#include "planner/lower.h"
#include "sim/engine.h"
#include "traces/analysis/step_use.h"
#include "traces/writers/chrome_json.h"
#include "traces/writers/svg_gantt.h"

namespace penstock::cli {
namespace {

// What to simulate, and what is known of it beyond the program.
struct Subject {
  Program program;
  std::string digest;        // of the plan
  std::int64_t samples = 0;  // a step; 0: unknown
  bool has_memory = true;    // of a bare schedule nothing is known
  bool own_unit = false;     // times are bare numbers
  EngineOptions options;
};

class SimulateVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("INPUT", "a plan, a program, or a schedule as 1f1b:stages=4,microbatches=8",
                input_);
    flags.reads("INPUT", input_);
    shape_.declare(flags);
    flags.add("--steps", "N", "steps to simulate (default 3, of a schedule 1)",
              count_into(steps_, 1, 1'000'000));
    flags.add("--p2p", "HOW", "eager or rendezvous (default rendezvous, of a schedule eager)",
              choice_into(p2p_));
    flags.on_off("contention", "ranks of one host slow one another down, where the plan says so (default)",
                 "as if they did not", contention_);
    times_.declare(flags);
    flags.add("--bytes", "BYTES", "of one message; with --cluster", bytes_into(bytes_));
    flags.add("--cluster", "CLUSTER", "whose link between the first two devices carries messages",
              text_into(cluster_));
    flags.reads("--cluster", cluster_);
    flags.output("--chrome", "FILE", "also write the timeline as Chrome trace events", chrome_);
    flags.output("--svg", "FILE", "also draw the last step, and memory over it, as a picture", svg_);
    flags.toggle("--gantt", "also draw the last step", gantt_);
    declare_width(flags, columns_);
    flags.needs("--gantt");
    flags_ = &flags;
  }

  Result<Reply> run(const Shared& shared) override {
    const bool onto_output = shared.output == "-" || chrome_ == "-" || svg_ == "-";
    if (!flags_->typed("--gantt") && (shared.json || onto_output)) gantt_ = false;
    if (gantt_ && shared.json)
      return fail(ErrorCode::Usage, "--gantt draws text, and --json asks for data",
                  "drop one of them");
    if (gantt_ && onto_output)
      return fail(ErrorCode::Usage, "--gantt draws on standard output, and a document goes there",
                  "write the document to a file, or leave --gantt out");
    PENSTOCK_TRY(Subject subject, load());
    if (steps_ > 0) subject.options.steps = steps_;
    subject.options.contention = contention_;
    if (p2p_) subject.options.discipline = *p2p_;
    PENSTOCK_TRY_VOID(
        require_sound(subject.program, subject.options.discipline == Discipline::Rendezvous));
    PENSTOCK_TRY(EngineResult result, simulate(subject.program, subject.options));
    result.timeline.plan_digest = subject.digest;
    if (!subject.has_memory) result.timeline.peak_memory = result.timeline.live_peak = {};

    Answer answer = describe(subject, result);
    if (subject.program.contention) {
      if (!contention_)
        answer.note("as if ranks of one host did not slow one another down");
      else if (subject.options.discipline == Discipline::Eager)
        answer.note("eager transfers neither slow the ranks of their host nor are slowed by them");
    }
    Reply reply(std::move(answer));
    if (gantt_) reply.text += "\n" + draw(result.timeline, columns_, subject.own_unit);
    if (!chrome_.empty()) reply.files.emplace_back(chrome_, write_chrome_json(result.timeline));
    if (!svg_.empty()) reply.files.emplace_back(svg_, picture(subject, result));
    if (!shared.output.empty()) {
      reply.document = shared.output.ends_with(".svg") ? picture(subject, result)
                                                       : write_timeline(result.timeline);
    }
    return reply;
  }

 private:
  Result<Subject> load() const {
    PENSTOCK_TRY(AnyInput input, load_input(input_, shape_));
    if (const ScheduleShape* shape = std::get_if<ScheduleShape>(&input)) return of_schedule(*shape);
    if (times_.typed() || flags_->typed("--bytes") || flags_->typed("--cluster")) {
      return fail(ErrorCode::Usage, fmt::format("{} has times of its own", input_),
                  "flags for times, --bytes and --cluster go with a schedule");
    }
    Subject subject;
    subject.options.steps = 3;
    if (const Plan* plan = std::get_if<Plan>(&input)) {
      PENSTOCK_TRY(subject.program, lower(*plan));
      warn_of_stale_claims(*plan, subject.program);
      subject.digest = plan_digest(*plan);
      subject.samples = plan->workload.global_batch;
    } else {
      subject.program = std::move(std::get<Program>(input));
    }
    return subject;
  }

  Result<Subject> of_schedule(const ScheduleShape& shape) const {
    PENSTOCK_TRY(const Order order, emit(*shape.schedule, shape.shape));
    std::optional<Nanoseconds> transfer;
    const bool link_typed = flags_->typed("--cluster") || flags_->typed("--bytes"), transfer_typed = flags_->typed("--transfer");
    bool has_link = !cluster_.empty() && bytes_.value > 0;
    if (link_typed && !has_link) {
      return fail(
          ErrorCode::Usage,
          "--bytes and --cluster go together: what a message weighs, and on which link it moves",
          "give both");
    }
    // Defaults yield to what is typed, and to times that no link is timed in.
    if (!link_typed && (transfer_typed || times_.bare())) has_link = false;
    if (has_link) {
      if (times_.transfer_given() && (transfer_typed || !link_typed))
        return fail(ErrorCode::Usage, "--transfer and --cluster both say what a transfer takes",
                    "drop one of them");
      if (times_.bare())
        return fail(ErrorCode::Usage, "a cluster's links are timed in seconds",
                    "write the times with units, e.g. --forward 1ms");
      PENSTOCK_TRY(transfer, first_link(order));
    }
    if (flags_->typed("--no-contention"))
      return fail(ErrorCode::Usage, "--no-contention: a schedule on its own knows of no contention",
                  "leave it out, or simulate a plan");
    Subject subject;
    subject.options.steps = 1;
    subject.options.discipline = Discipline::Eager;
    subject.has_memory = subject.options.memory_counters = false;
    subject.own_unit = times_.bare();
    PENSTOCK_TRY(const OrderCosts costs, times_.costs(order, transfer));
    // Updates take no time, and what messages weigh is in their times already: a bare schedule has
    // no memory to hold them.
    subject.program = lower(with_steps(order), costs, Bytes(0));
    return subject;
  }

  Result<Nanoseconds> first_link(const Order& order) const {
    PENSTOCK_TRY(const Cluster cluster, load_cluster(cluster_, order.ranks));
    if (cluster.devices.size() < static_cast<std::size_t>(order.ranks)) {
      return fail(ErrorCode::Infeasible,
                  fmt::format("{} ranks, and the cluster has {} devices", order.ranks,
                              cluster.devices.size()),
                  "name a larger cluster");
    }
    if (order.ranks < 2) return Nanoseconds(0);
    const std::optional<Path> path = route(cluster, DeviceId(0), DeviceId(1));
    PENSTOCK_CHECK(path.has_value(), "a valid cluster connects all devices");
    return path->time(bytes_);
  }

  static std::string picture(const Subject& subject, const EngineResult& result) {
    SvgOptions options{.bare = subject.own_unit};
    if (subject.has_memory)
      options.memory = memory_use(result.timeline, arrange(result.timeline).step, &subject.program);
    return svg_gantt(result.timeline, options);
  }

  static Answer describe(const Subject& subject, const EngineResult& result) {
    const Timeline& timeline = result.timeline;
    const double iteration = seconds(iteration_time(timeline));
    const Idleness idle = idleness(step_use(timeline));
    Answer answer("penstock.simulate/1");
    answer.add("program", "program", subject.program.name);
    answer.add("iteration_time_s", "iteration time", in_unit(iteration, subject.own_unit),
               unit_of_time(subject.own_unit));
    const bool has_rate = subject.samples > 0 && iteration > 0;
    answer.add("throughput_samples_per_s", "throughput",
               has_rate ? Value(static_cast<double>(subject.samples) / iteration) : Value(),
               "samples/s", has_rate ? Show::Always : Show::DataOnly);
    answer.add("bubble_fraction", "bubble", idle.bubble_fraction, Unit::Fraction);
    answer.add("idle_over_busy", "idle/busy", idle.idle_over_busy, Unit::Fraction);
    answer.add("steps", "steps", subject.options.steps);
    answer.add("p2p", "transfers",
               subject.options.discipline == Discipline::Eager ? "eager" : "rendezvous");
    answer.add("instructions", "instructions", result.instructions);
    answer.add("events", "events", result.events);
    if (!subject.digest.empty())
      answer.add("plan_digest", "plan digest", subject.digest, {}, Show::DataOnly);
    add_devices(answer, timeline, subject.own_unit);
    return answer;
  }

  std::string input_, cluster_, chrome_, svg_;
  std::int32_t steps_ = 0;  // 0: not given
  std::optional<Discipline> p2p_;
  ShapeFlags shape_;
  TimeFlags times_;
  Bytes bytes_;
  bool gantt_ = false, contention_ = true;
  std::int32_t columns_ = kDefaultColumns;
  const Flags* flags_ = nullptr;
};

}  // namespace

Command simulate_command() {
  return {.name = "simulate",
          .summary = "run a plan, a program or a schedule on a virtual clock",
          .about =
              "Predicts iteration time, idle time and memory by running every instruction on a "
              "virtual clock. Of a schedule\n"
              "with bare numbers for times, results are in the same unit of your own.",
          .document = "the timeline",
          .examples = {"penstock simulate plan.json -o predicted.json --gantt",
                       "penstock simulate 1f1b:stages=64,microbatches=1024 --forward 1ms "
                       "--backward-input 1ms --backward-weight 1ms\n"
                       "      --bytes 50MB --cluster "
                       "flat:64,bandwidth=25GB/s,latency=5us,device=a100-80 --p2p rendezvous"},
          .see_also = "plan, run, compare, schedule",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<SimulateVerb>()); }};
}

}  // namespace penstock::cli
