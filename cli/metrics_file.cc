#include "cli/metrics_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "cli/inputs.h"
#include "core/json.h"
#include "core/log.h"

namespace penstock::cli {

Result<MetricsFile> MetricsFile::open(const std::string& path) {
  MetricsFile out;
  out.path_ = path;
  if (path.empty()) return out;
  out.file_.reset(path == "-" ? stdout : std::fopen(path.c_str(), "we"));
  if (out.file_) return out;
  return fail(Error{.code = ErrorCode::Usage, .message = fmt::format("cannot write: {}", std::strerror(errno)),
                    .where = {.file = path}});
}

void MetricsFile::put(std::string line) {
  if (failed_) return;
  line += '\n';
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() && std::fflush(file_.get()) == 0;
  if (written) return;
  failed_ = true;
  log_warning(fmt::format("{}: metrics end here: {}", path_, std::strerror(errno)));
}

void MetricsFile::begin(const Plan& plan, const RunOptions& options, bool reference) {
  if (!file_) return;
  const Workload& workload = plan.workload;
  clips_ = workload.optimizer.clip != 0;
  batch_ = static_cast<double>(workload.global_batch);
  JsonWriter line(0);
  line.begin_object();
  line.member("schema", "penstock.metrics/1").member("workload", workload.name).member("plan_digest", plan_digest(plan));
  line.member("global_batch", workload.global_batch).member("steps", options.steps).member("seed", options.seed);
  line.member("reference", reference);
  line.end_object();
  put(line.take());
}

void MetricsFile::add(const StepReport& step) {
  if (!file_) return;
  const double took = seconds(step.took);
  JsonWriter line(0);
  line.begin_object();
  line.member("step", step.step).member("loss", step.loss).member("learning_rate", step.learning_rate);
  if (clips_) line.member("gradient_norm", step.gradient_norm);
  line.member("step_time_s", took);
  if (took > 0) line.member("samples_per_s", batch_ / took);
  line.end_object();
  put(line.take());
}

void MetricsFile::add(const EvaluationReport& evaluation) {
  if (!file_) return;
  JsonWriter line(0);
  line.begin_object();
  line.member("steps", evaluation.step).member("evaluation_loss", evaluation.loss);
  line.end_object();
  put(line.take());
}

}  // namespace penstock::cli
