#pragma once

// Predicted against measured as one HTML file that needs nothing else: no network, no other file, no library. It holds a
// verdict in words; both timelines with one axis, to pan and zoom; memory of each rank; tables that sort; and where the
// numbers come from. Light or dark, on screen or on paper. docs/adr/0006-report-without-libraries.md says why it is so made.

#include <string>
#include <utility>
#include <vector>

#include "core/program.h"
#include "core/timeline.h"
#include "traces/analysis/compare.h"

namespace penstock {

struct ReportInput {
  const Timeline& predicted;
  const Timeline& measured;
  const Comparison& comparison;       // of the two
  const Program* program = nullptr;   // of their plan: gives memory limits, and what holds the peaks
  // More of where the numbers come from, as name and value: "machine", "costs".
  std::vector<std::pair<std::string, std::string>> provenance;
};

// Of each the step nearest the median is drawn; of the measurement the fastest and the slowest are there to choose too. Same input, same version, same bytes. O(spans log spans).
std::string write_report(const ReportInput& input);

}  // namespace penstock
