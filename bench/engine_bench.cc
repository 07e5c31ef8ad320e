// How many instructions a second sim/engine gets through, on one core.
//
//   engine/1f1b/64x1024        1F1B, 64 stages, 1,024 microbatches, rendezvous, all spans and
//                              memory counters kept; items are instructions (computations, SENDs,
//                              RECVs, WAITs). Counter events: of the queue, a second
//   engine_times/1f1b/64x1024  the same with only the ends of steps kept

#include <benchmark/benchmark.h>

#include "planner/lower.h"
#include "planner/schedules/schedule.h"
#include "sim/engine.h"

namespace penstock {
namespace {

Program program_1f1b() {
  const auto chosen = find_schedule("1f1b");
  PENSTOCK_CHECK(chosen.has_value(), "1f1b is a schedule");
  Shape shape;
  shape.stages = 64;
  shape.microbatches = 1024;
  const auto order = emit(*chosen->schedule, shape);
  PENSTOCK_CHECK(order.has_value(), "1f1b admits every shape");
  const OrderCosts costs =
      OrderCosts::uniform(*order, Nanoseconds(1'000'000), Nanoseconds(1'000'000),
                          Nanoseconds(1'000'000), Nanoseconds(2'005'000));
  return lower(*order, costs, Bytes(50'000'000));
}

void engine_case(benchmark::State& state, bool spans) {
  const Program program = program_1f1b();
  EngineOptions options;
  options.spans = options.memory_counters = spans;
  std::int64_t instructions = 0, events = 0;
  for (auto _ : state) {
    const auto result = simulate(program, options);
    PENSTOCK_CHECK(result.has_value(), "1f1b finishes");
    instructions += result->instructions;
    events += result->events;
  }
  state.SetItemsProcessed(instructions);
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(engine_case, spans, true)
    ->Name("engine/1f1b/64x1024")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(engine_case, times, false)
    ->Name("engine_times/1f1b/64x1024")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
