#pragma once

// What training reports, as lines of JSON (docs/formats/metrics.md), each written out at once: whoever follows the file sees
// every step soon after it is done.
//
//   PENSTOCK_TRY(MetricsFile metrics, MetricsFile::open("metrics.jsonl", plan, options, false));
//   options.on_step = [&](const StepReport& step) { metrics.add(step); };

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan.h"
#include "core/result.h"
#include "exec/run.h"

namespace penstock {

class MetricsFile {
 public:
  // "": nothing is written. "-": to standard output. An existing file is emptied when there is a first line to write, so a run
  // that does not start costs nothing: a file that was made for it goes away again. `options` as they go to run().
  static Result<MetricsFile> open(const std::string& path, const Plan& plan, const RunOptions& options, bool reference);
  MetricsFile(MetricsFile&& other) noexcept;
  MetricsFile& operator=(MetricsFile&& other) noexcept;
  ~MetricsFile();

  void add(const StepReport& step);
  void add(const EvaluationReport& evaluation);

  // Why a line could not be written: ReaderGone where it went into a pipe that nobody reads any more. No other line is written
  // after it, and of it nothing stays in a regular file: lines are whole.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  MetricsFile() = default;
  void put(std::string line);
  void write(std::string_view line);

  std::string path_, header_;  // the header until it is written
  int descriptor_ = -1;
  bool made_ = false, clips_ = false;
  double batch_ = 0;
  std::optional<Error> failure_;
};

}  // namespace penstock
