#include "exec/metrics.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/file.h"
#include "core/formats/plan_format.h"
#include "core/json.h"

namespace penstock {
namespace {

Error cannot_write(const std::string& path, int error) {
  const ErrorCode code = error == EPIPE ? ErrorCode::ReaderGone : ErrorCode::Unavailable;
  return {.code = code, .message = fmt::format("metrics end here, cannot write: {}", std::strerror(error)),
          .where = {.file = path == "-" ? "<stdout>" : path}, .hint = error == ENOSPC ? "free some space" : ""};
}

// All of it or, in a regular file, nothing. 0, or the error.
int write_whole(int descriptor, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
      continue;
    }
    if (errno == EINTR) continue;
    const int error = errno;
    struct stat status = {};
    const off_t end = ::lseek(descriptor, 0, SEEK_CUR);
    // Only what is ours, and last in the file.
    if (done > 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == end) {
      const off_t start = end - static_cast<off_t>(done);
      if (::ftruncate(descriptor, start) == 0) ::lseek(descriptor, start, SEEK_SET);
    }
    return error;
  }
  return 0;
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
    if (out.descriptor_ < 0) {
      Error error = cannot_write(path, errno);
      error.code = ErrorCode::Usage;
      return fail(std::move(error));
    }
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

void MetricsFile::put(std::string line) {
  if (descriptor_ < 0 || failure_) return;
  if (!header_.empty()) {
    // Devices and pipes have no length to cut.
    if (path_ != "-") [[maybe_unused]] const int cut = ::ftruncate(descriptor_, 0);
    if (const int error = write_whole(descriptor_, std::exchange(header_, ""))) failure_ = cannot_write(path_, error);
    if (failure_) return;
  }
  line += '\n';
  if (const int error = write_whole(descriptor_, line)) failure_ = cannot_write(path_, error);
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
