#include "exec/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "cli/figures.h"
#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "core/archive.h"
#include "core/formats/plan_format.h"
#include "core/formats/timeline_format.h"
#include "core/log.h"
#include "exec/checkpoint.h"
#include "exec/data/open_images.h"
#include "exec/data_source.h"
#include "exec/metrics.h"
#include "profiler/profiler.h"
#include "traces/analysis/step_use.h"
#include "traces/writers/chrome_json.h"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

// The project's own documents: text that is there wherever Penstock was built or installed.
Result<std::string> documents() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& folder : {program.parent_path().parent_path() / "share/penstock/docs",
                                 fs::path(PENSTOCK_DOCUMENTS)}) {
    if (fs::is_directory(folder, ignored)) return folder.string();
  }
  return fail(ErrorCode::BadInput, "the documents that training reads by default are not installed",
              "give a text with --data");
}

void add_evaluations(Answer& answer, const RunResult& result) {
  if (result.evaluations.empty()) return;
  answer.add("evaluation_loss", "evaluation loss", result.evaluations.back().loss);
  const auto& accuracy = result.evaluations.back().accuracy;  // all have one, or none
  if (accuracy) answer.add("evaluation_accuracy", "evaluation accuracy", *accuracy, Unit::Fraction);
  std::vector<Column> columns = {{"steps", "steps"}, {"loss", "loss"}};
  if (accuracy) columns.push_back({"accuracy", "accuracy", Unit::Fraction});
  Table& table = answer.add_table("evaluations", accuracy ? "loss and accuracy on held-out data" : "loss on held-out data", columns);
  for (const EvaluationReport& report : result.evaluations) {
    std::vector<Value> row = {report.step, report.loss};
    if (report.accuracy) row.push_back(*report.accuracy);
    table.add(std::move(row));
  }
}

// Where a decay ends before the steps do, what is left of the learning rate holds for the rest.
void note_end_of_decay(Answer& answer, const Optimizer& optimizer, std::int64_t done) {
  const LearningRateSchedule& schedule = optimizer.schedule;
  const bool ends = schedule.kind == DecayKind::Linear || schedule.kind == DecayKind::Cosine;
  if (!ends || done <= schedule.steps) return;
  const double rate = learning_rate_at(optimizer, schedule.steps);
  answer.note(fmt::format("the learning rate is {:.4g} from step {} on: the plan's {} schedule ends there{}", rate,
                          schedule.steps, enum_text(schedule.kind), rate == 0 ? ", and no later step learns" : ""));
}

Answer describe(const Plan& plan, const RunResult& result, bool reference,
                const std::string& data) {
  const Timeline& timeline = result.timeline;
  const double iteration = seconds(iteration_time(timeline));
  Answer answer("penstock.run/1");
  answer.add("program", "program", timeline.name);
  answer.add("backend", "backend", result.backend);
  answer.add("instruction_set", "instruction set", result.instruction_set);
  answer.add("data", "data", reads_images(plan.workload) && data == kSyntheticData ? "synthetic images" : data);
  answer.add("steps", "steps", result.steps);
  if (result.first_step > 0)
    answer.add("first_step", "steps before", result.first_step);
  answer.add("iteration_time_s", "iteration time", iteration, Unit::Seconds);
  if (iteration > 0) {
    answer.add("throughput_samples_per_s", "throughput",
               static_cast<double>(plan.workload.global_batch) / iteration, "samples/s");
  }
  if (!reference)
    answer.add("bubble_fraction", "bubble", idleness(step_use(timeline)).bubble_fraction,
               Unit::Fraction);
  if (!timeline.losses.empty()) {
    answer.add("first_loss", "first loss", timeline.losses.front());
    answer.add("last_loss", "last loss", timeline.losses.back());
  }
  add_evaluations(answer, result);
  if (result.checkpoint_step >= 0)
    answer.add("checkpoint_step", "steps kept", result.checkpoint_step);
  answer.add("losses", "losses", Value::list(timeline.losses), {}, Show::DataOnly);
  answer.add("weights_digest", "weights digest", timeline.weights_digest);
  answer.add("plan_digest", "plan digest", timeline.plan_digest, {}, Show::DataOnly);
  add_devices(answer, timeline);
  if (reads_images(plan.workload) && data == kSyntheticData)
    answer.note("trained on synthetic images; --data names a set of real ones");
  note_end_of_decay(answer, plan.workload.optimizer, result.first_step + result.steps);
  return answer;
}

class RunVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("PLAN", "a plan (penstock plan)", plan_);
    flags.reads("PLAN", plan_);
    flags.add("--steps", "N", "steps to train, from the start (default 20)",
              count_into(options_.steps, 1, 10'000'000));
    flags.toggle("--reference", "the same arithmetic on one device, one operation at a time",
                 reference_);
    flags.add(
        "--data", "PATH",
        "text to train on: a file, or a folder's *.md and *.txt (default: Penstock's documents); "
        "or images: MNIST (IDX) or CIFAR files, or synthetic (default)",
        Setter({std::string(kSyntheticData)}, text_into(options_.data)));
    flags.reads("--data", options_.data);
    flags.add("--backend", "NAME", "cpu (default)", text_into(options_.backend));
    flags.add("--ranks", "N", "refuse a plan of another number of ranks",
              count_into(ranks_, 1, 65'535));
    flags.add("--deadline", "TIME", "after which an instruction counts as hung (default 30s)",
              duration_into(options_.deadline));
    flags.output("--chrome", "FILE", "also write the timeline as Chrome trace events", chrome_);
    flags.output("--metrics", "FILE", "a line of JSON a step, as it is done (-: standard output)",
                 metrics_);
    flags.add("--evaluate", "PATH", "held-out data: the loss on it in the end, nothing trained",
              Setter({std::string(kSyntheticData)}, text_into(options_.evaluation.data)));
    flags.reads("--evaluate", options_.evaluation.data);
    flags.add("--evaluate-every", "N", "and every N steps",
              count_into(options_.evaluation.every, 1, 10'000'000));
    flags.needs("--evaluate");
    flags.add("--evaluate-batches", "K", "batches it is the mean of (default 8)",
              count_into(options_.evaluation.batches, 1, 1'000'000));
    flags.needs("--evaluate");
    flags.output("--checkpoint", "FILE",
                 "where to keep the training's state, in the end and when interrupted",
                 options_.checkpoint.save, &options_.checkpoint.resume, {".partial", ".previous"});
    flags.add("--checkpoint-every", "N", "and every N steps",
              count_into(options_.checkpoint.every, 1, 10'000'000));
    flags.needs("--checkpoint");
    flags.add("--resume", "FILE", "go on from a checkpoint, up to --steps in all",
              text_into(options_.checkpoint.resume));
    flags.reads("--resume", options_.checkpoint.resume);
    flags_ = &flags;
  }

  Result<Reply> run(const Shared& shared) override {
    PENSTOCK_TRY_VOID(check_flags());
    PENSTOCK_TRY_VOID(check_checkpoint(shared));
    PENSTOCK_TRY(const Plan plan, load_plan(plan_));
    if (ranks_ > 0 && ranks_ != plan.ranks()) {
      return fail(ErrorCode::Infeasible,
                  fmt::format("--ranks {}: the plan is for {}", ranks_, plan.ranks()),
                  fmt::format("plan again with --ranks {}", ranks_));
    }
    PENSTOCK_TRY(const Program program, sound_program(plan));
    const std::string named_data = options_.data;
    if (options_.data.empty()) {
      if (reads_images(plan.workload)) {
        options_.data = kSyntheticData;
      } else {
        PENSTOCK_TRY(options_.data, documents());
      }
    }
    warn_of_stale_claims(plan, program);
    warn_of_another_machine(plan);
    warn_of_other_devices(plan);
    if (!reference_ && !(plan.contention && plan.contention->cores > 0)) warn_of_shared_cores(plan.ranks());
    options_.seed = shared.seed;
    PENSTOCK_TRY(MetricsFile metrics, MetricsFile::open(metrics_, plan, options_, reference_));
    PENSTOCK_TRY(RunResult result, execute(plan, program, shared, metrics));
    result.timeline.plan_digest = plan_digest(plan);

    Answer answer = describe(plan, result, reference_, options_.data);
    if (result.interrupted) note_interruption(answer, result, named_data);
    Reply reply(answer);
    if (!chrome_.empty()) reply.files.emplace_back(chrome_, write_chrome_json(result.timeline));
    if (!shared.output.empty()) reply.document = write_timeline(result.timeline);
    if (result.interrupted) reply.exit_code = interrupted_exit_code();
    if (result.checkpoint_failure) reply.failures.push_back(*result.checkpoint_failure);
    if (metrics.failure()) reply.failures.push_back(*metrics.failure());
    return reply;
  }

 private:
  void note_interruption(Answer& answer, const RunResult& result, const std::string& named_data) const {
    const std::int64_t done = result.first_step + result.steps;
    const bool by_user = interrupted_exit_code() != kExitReaderGone;
    answer.note(fmt::format("{} after {} step{}{}", by_user ? "interrupted" : "stopped, as nobody reads the metrics,", done, done == 1 ? "" : "s",
                            result.first_step > 0 ? fmt::format(", {} of them in this run", result.steps) : ""));
    if (!options_.evaluation.data.empty()) answer.note("the loss on held-out data in the end is left out");
    const std::string& file = options_.checkpoint.save;
    if (done == options_.steps) return;
    if (file.empty()) {
      answer.note("the weights are not kept: --checkpoint FILE keeps them");
      return;
    }
    if (result.checkpoint_failure && result.checkpoint_step < 0) {
      answer.note(fmt::format("nothing of this run is kept: {} could not be written", file));
      return;
    }
    const std::string kept = !result.checkpoint_failure ? "" : fmt::format(" after {} step{}, and nothing later", result.checkpoint_step,
                                                                               result.checkpoint_step == 1 ? "" : "s");
    answer.note(fmt::format("{0} keeps the state{6}; to go on: penstock run {1}{2}{3}{4} --steps {5} --resume {0} --checkpoint {0}",
                            file, plan_, named_data.empty() ? "" : " --data " + named_data,
                            options_.seed == 0 ? "" : fmt::format(" --seed {}", options_.seed),
                            reference_ ? " --reference" : "", options_.steps, kept));
  }

  Result<RunResult> execute(const Plan& plan, const Program& program, const Shared& shared, MetricsFile& metrics) {
    Progress progress(shared);
    options_.stop = interrupts_.emplace().token();
    double elapsed = 0;
    std::int64_t done = 0;
    options_.on_step = [&](const StepReport& step) {
      write(metrics, step);
      elapsed += seconds(step.took);
      progress.show(describe_progress(step, plan.workload.global_batch, ++done, elapsed));
    };
    options_.on_evaluation = [&](const EvaluationReport& report) { write(metrics, report); };
    options_.on_warning = [](const std::string& warning) { log_warning(warning); };
    return reference_ ? run_reference(plan, options_) : penstock::run(plan, program, options_);
  }

  // Training goes on without metrics that have no room; for nobody to read them it does not.
  template <class Report>
  void write(MetricsFile& metrics, const Report& report) {
    const bool failed_before = metrics.failure().has_value();
    metrics.add(report);
    if (failed_before || !metrics.failure()) return;
    if (metrics.failure()->code == ErrorCode::ReaderGone)
      interrupts_->stop(kExitReaderGone);
    else
      log_warning(metrics.failure()->text());
  }

  // "step 12 of 60, loss 5.31, 45.3 samples/s, 2 s left", at the rate of the steps so far.
  std::string describe_progress(const StepReport& step, std::int64_t batch, std::int64_t done,
                                double elapsed) const {
    std::string text = fmt::format("step {} of {}, loss {:.4g}", step.step + 1, options_.steps,
                                   step.loss);
    if (elapsed <= 0) return text;
    const double rate = static_cast<double>(done) / elapsed;
    const auto left = static_cast<double>(options_.steps - step.step - 1);
    return text + fmt::format(", {}, {:.0f} s left",
                              human_text(rate * static_cast<double>(batch), "samples/s"), left / rate);
  }

  Result<void> check_flags() const {
    if (reference_ && flags_->typed("--deadline"))
      return fail(ErrorCode::Usage, "--deadline means nothing with --reference, which waits for no other rank");
    if (options_.checkpoint.save == "-")
      return fail(ErrorCode::Usage, "--checkpoint: a checkpoint replaces a file, again and again",
                  "name a file");
    return {};
  }

  // The second checkpoint puts the first in the place of FILE.previous, where another training's may be the only one left.
  Result<void> check_checkpoint(const Shared& shared) const {
    const CheckpointOptions& checkpoint = options_.checkpoint;
    if (checkpoint.save.empty()) return {};
    PENSTOCK_TRY_VOID(checkpoint_target(checkpoint.save));
    const std::string kept = previous_checkpoint(checkpoint.save);
    if (!shared.force && checkpoint.resume != checkpoint.save && fs::exists(fs::symlink_status(kept)))
      return fail(Error{.code = ErrorCode::Usage,
                        .message = "the file exists already",
                        .where = {.file = kept},
                        .hint = "it would be replaced too: --force replaces both"});
    return {};
  }

  static void warn_of_another_machine(const Plan& plan) {
    const std::string here = identify_machine().cpu;
    if (plan.profile_machine.empty() || plan.profile_machine == here) return;
    log_warning(fmt::format("the plan's times were measured on a {}, and this is a {}",
                            plan.profile_machine, here));
  }

  static void warn_of_other_devices(const Plan& plan) {
    std::string kinds;
    std::vector<std::string> seen = {"cpu"};
    for (const PlanDevice& row : plan.devices) {
      const std::string& kind = plan.cluster.devices[row.device.index()].kind;
      if (std::find(seen.begin(), seen.end(), kind) != seen.end()) continue;
      seen.push_back(kind);
      kinds += (kinds.empty() ? "" : " and ") + kind;
    }
    if (!kinds.empty())
      log_warning(fmt::format("the plan is for {}; running it on CPU threads", kinds));
  }

  static void warn_of_shared_cores(std::int32_t ranks) {
    const std::int64_t cores = identify_machine().cores;
    if (ranks <= cores) return;
    log_warning(fmt::format("{} ranks share {} core{}: times will not be as predicted", ranks,
                            cores, cores == 1 ? "" : "s"));
  }

  std::string plan_, chrome_, metrics_;
  std::int32_t ranks_ = 0;
  bool reference_ = false;
  const Flags* flags_ = nullptr;
  RunOptions options_;
  std::optional<InterruptWatch> interrupts_;
};

}  // namespace

Command run_command() {
  return {.name = "run",
          .summary = "train for real, by a plan, on this machine",
          .about =
              "Trains by a plan on this machine, one rank a thread, and measures every "
              "instruction. The program is proved\n"
              "sound before it starts. Interrupted or terminated, it finishes the step under way and "
              "says what was done.",
          .document = "the timeline",
          .examples = {"penstock run plan.json --steps 60 -o measured.json",
                       "penstock run plan.json --reference --steps 20 --json"},
          .see_also = "plan, simulate, compare",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<RunVerb>()); }};
}

}  // namespace penstock::cli
