#pragma once

// What training reports, as lines of JSON (docs/formats/metrics.md), each written out at once: whoever follows the file sees
// every step soon after it is done.

#include <cstdio>
#include <memory>
#include <string>

#include "core/plan.h"
#include "core/result.h"
#include "exec/run.h"

namespace penstock::cli {

class MetricsFile {
 public:
  // "": nothing is written. "-": to standard output. An existing file is emptied.
  static Result<MetricsFile> open(const std::string& path);

  void begin(const Plan& plan, const RunOptions& options, bool reference);
  void add(const StepReport& step);
  void add(const EvaluationReport& evaluation);

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };

  // The first line that cannot be written is told of; training goes on.
  void put(std::string line);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool clips_ = false, failed_ = false;
  double batch_ = 0;
};

}  // namespace penstock::cli
