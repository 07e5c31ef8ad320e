#include "tests/planner/recorded_schedules.h"

#include "tests/support/files.h"
#include "tests/support/recorded_data.h"
#include "tests/support/table.h"

namespace penstock::test {
namespace {

std::int32_t small(std::string_view text) {
  return static_cast<std::int32_t>(number(text));
}

std::vector<std::int32_t> numbers(std::string_view text) {
  std::vector<std::int32_t> values;
  for (const std::string_view word : split(text, ' ')) values.push_back(small(word));
  return values;
}

// Calls `row` with the fields of each line but comments and the header.
template <class Row>
void for_each_row(std::string_view text, std::size_t fields, Row row) {
  bool is_header = true;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (!is_header && cells.size() >= fields) row(cells);
    is_header = false;
  }
}

}  // namespace

std::vector<RecordedList> recorded_lists() {
  std::vector<RecordedList> lists;
  for_each_row(read_gzip(data_path("schedules/orders.csv.gz")), 14,
               [&](const std::vector<std::string_view>& cells) {
                 RecordedList& list = lists.emplace_back();
                 list.source = cells[1];
                 list.schedule = cells[2];
                 list.stages = small(cells[4]);
                 list.microbatches = small(cells[5]);
                 list.rank = small(cells[13]);
                 for (const std::string_view token : split(cells[14], ' '))
                   list.tokens.emplace_back(token);
               });
  return lists;
}

std::vector<RecordedFigures> recorded_figures() {
  std::vector<RecordedFigures> rows;
  for_each_row(read_file(data_path("schedules/results.csv")), 22,
               [&](const std::vector<std::string_view>& cells) {
                 RecordedFigures& row = rows.emplace_back();
                 row.source = cells[1];
                 row.schedule = cells[2];
                 row.stages = small(cells[4]);
                 row.microbatches = small(cells[5]);
                 row.forward = number(cells[8]);
                 row.backward_input = number(cells[9]);
                 row.backward_weight = number(cells[10]);
                 row.transfer = number(cells[11]);
                 row.makespan = number(cells[14]);
                 row.span = number(cells[15]);
                 row.until_weight = numbers(cells[18]);
                 row.until_input = numbers(cells[19]);
               });
  return rows;
}

std::vector<RecordedFigures> golden_figures() {
  std::vector<RecordedFigures> rows;
  for_each_row(golden("schedules_gpipe_1f1b.csv"), 10,
               [&](const std::vector<std::string_view>& cells) {
                 RecordedFigures& row = rows.emplace_back();
                 row.schedule = cells[0];
                 row.stages = small(cells[1]);
                 row.microbatches = small(cells[2]);
                 row.forward = number(cells[3]);
                 row.backward_input = number(cells[4]);
                 row.backward_weight = number(cells[5]);
                 row.transfer = number(cells[6]);
                 row.makespan = number(cells[7]);
                 row.span = number(cells[8]);
                 row.until_weight = row.until_input = numbers(cells[9]);
               });
  return rows;
}

}  // namespace penstock::test
