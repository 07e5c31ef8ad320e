#include "exec/metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "core/file.h"
#include "core/formats/plan_format.h"
#include "core/json.h"

namespace penstock {
namespace {

// All of it or, in a regular file, nothing. 0, or the error.
int write_whole(int descriptor, std::string_view bytes) {
  const off_t start = ::lseek(descriptor, 0, SEEK_CUR);
  const int error = write_all(descriptor, bytes);
  if (error == 0) return 0;
  struct stat status = {};
  const off_t end = ::lseek(descriptor, 0, SEEK_CUR);
  // Only what is ours, and last in the file.
  if (end > start && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == end) {
    if (::ftruncate(descriptor, start) == 0) ::lseek(descriptor, start, SEEK_SET);
  }
  return error;
}

}  // namespace

Result<MetricsFile> MetricsFile::open(const std::string& path, const Plan& plan, const RunOptions& options, bool reference) {
  MetricsFile out;
  if (path.empty()) return out;
  out.path_ = path;
  if (path == "-") {
    out.descriptor_ = STDOUT_FILENO;
  } else {
    out.made_ = ::access(path.c_str(), F_OK) != 0;
    out.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (out.descriptor_ < 0) return cannot_write(path, errno);
  }
  const Workload& workload = plan.workload;
  out.clips_ = workload.optimizer.clip != 0;
  out.batch_ = static_cast<double>(workload.global_batch);
  JsonWriter line(0);
  line.begin_object();
  line.member("schema", "penstock.metrics/1").member("workload", workload.name).member("plan_digest", plan_digest(plan));
  line.member("global_batch", workload.global_batch).member("steps", options.steps).member("seed", options.seed);
  line.member("reference", reference);
  line.end_object();
  out.header_ = line.take() + '\n';
  return out;
}

MetricsFile::MetricsFile(MetricsFile&& other) noexcept { *this = std::move(other); }

MetricsFile& MetricsFile::operator=(MetricsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(header_, other.header_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(made_, other.made_);
  std::swap(clips_, other.clips_);
  std::swap(batch_, other.batch_);
  std::swap(failure_, other.failure_);
  return *this;
}

MetricsFile::~MetricsFile() {
  if (descriptor_ < 0 || path_ == "-") return;
  if (made_ && !header_.empty()) ::unlink(follow_links(path_).c_str());
  ::close(descriptor_);
}

// The metrics end with the first line that cannot be written.
void MetricsFile::write(std::string_view line) {
  const int error = write_whole(descriptor_, line);
  if (error == 0) return;
  failure_ = cannot_write(path_ == "-" ? "<stdout>" : path_, error).value();
  failure_->message = "metrics end here, " + failure_->message;
}

void MetricsFile::put(std::string line) {
  if (descriptor_ < 0 || failure_) return;
  if (!header_.empty()) {
    // Devices and pipes have no length to cut.
    if (path_ != "-") [[maybe_unused]] const int cut = ::ftruncate(descriptor_, 0);
    write(std::exchange(header_, ""));
    if (failure_) return;
  }
  line += '\n';
  write(line);
}

void MetricsFile::add(const StepReport& step) {
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
  JsonWriter line(0);
  line.begin_object();
  line.member("steps", evaluation.step).member("evaluation_loss", evaluation.loss);
  if (evaluation.accuracy) line.member("evaluation_accuracy", *evaluation.accuracy);
  line.end_object();
  put(line.take());
}

}  // namespace penstock
