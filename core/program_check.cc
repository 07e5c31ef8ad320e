#include "core/program_check.h"

#include <algorithm>

#include "core/check/program_index.h"

namespace penstock {

std::vector<Violation> check(const Program& program, const CheckOptions& options) {
  using namespace check_rules;
  Report report(options.most);
  check_tables(program, report);
  if (report.size() > 0) return report.take();

  check_stores(program, report);
  check_instructions(program, report);
  check_persistent(program, report);
  if (report.full()) return report.take();  // what coverage finds has to be seen
  const std::size_t before = report.size();
  const ProgramIndex index = check_coverage(program, report);
  const bool covered = report.size() == before;
  if (covered) {
    check_messages(program, index, report);
    check_arrivals(program, index, report);
    check_sequence(program, index, report);
    check_reductions(program, index, report);
  }
  check_collectives(program, report);
  const bool completes = !options.buffered || check_progress(program, false, report);
  if (options.rendezvous && completes) check_progress(program, true, report);
  if (covered) check_memory(program, index, report);
  return report.take();
}

bool proves_memory(const Program& program) {
  return std::any_of(program.buffers.begin(), program.buffers.end(),
                     [](const Buffer& row) { return row.cls == BufferClass::Weights; });
}

}  // namespace penstock
