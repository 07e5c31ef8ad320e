// A plan: round trip; its claims are checked; a small one is lowered, proved and run.

#include "core/formats/plan_format.h"
#include "core/formats/program_format.h"
#include "planner/certificate.h"
#include "planner/explain.h"
#include "planner/lower.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

// Lowering is bounded by memory, not by patience.
bool small(const Plan& plan) {
  std::int64_t copies = 0;
  for (const PlanStage& stage : plan.stages) copies += stage.replicas;
  return plan.microbatches <= 64 && copies <= 16 && plan.edges.size() <= 32;
}

void run(std::string_view bytes) {
  const Result<Plan> plan = read_plan(bytes, "plan");
  if (!plan) return require_refusal(plan.error());
  const std::string json = write_plan(*plan);
  const Result<Plan> again = read_plan(json, "p.json");
  require(require_value(again, "what is written reads back") == *plan, "it reads back equal", json);
  require(write_plan(*again) == json, "equal plans are written alike");
  if (!small(*plan)) return;
  verify(*plan);
  const Result<Program> program = lower(*plan);
  if (!program) return require_refusal(program.error());
  const Result<Program> read = read_program(std::string_view(write_program(*program)), "program");
  require(require_value(read, "a lowered program reads back") == *program, "a lowered program reads back equal");
  exercise(*program);
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
