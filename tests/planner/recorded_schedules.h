#pragma once

// Recorded orders and figures of public schedule generators, and our own table of figures.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::test {

// One rank of one order, as in schedules/orders.csv.gz of the recorded data.
struct RecordedList {
  std::string source, schedule;
  std::int32_t stages = 0, microbatches = 0, rank = 0;
  std::vector<std::string> tokens;
};
std::vector<RecordedList> recorded_lists();

// Makespan and the like of one order under one set of costs.
struct RecordedFigures {
  std::string source, schedule;
  std::int32_t stages = 0, microbatches = 0;
  std::int64_t forward = 0, backward_input = 0, backward_weight = 0, transfer = 0;
  std::int64_t makespan = 0, span = 0;
  std::vector<std::int32_t> until_weight, until_input;
};
std::vector<RecordedFigures> recorded_figures();  // schedules/results.csv of the recorded data
std::vector<RecordedFigures> golden_figures();    // tests/golden/schedules_gpipe_1f1b.csv

}  // namespace penstock::test
