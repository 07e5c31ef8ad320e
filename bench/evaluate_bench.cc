// How many compute instructions a second sim/evaluate gets through, on one core, beside loops that
// know the schedule.
//
//   evaluate/1f1b/64x4096     1F1B, 64 stages, 4,096 microbatches, with transfer times; items are
//                             compute instructions. Counters of_floor and of_recurrence: its speed
//                             over theirs in this run
//   floor/1f1b/64x4096        a loop for 1F1B only, with the same inputs and results: it knows
//                             which operation can run next, reads it from the order's lists and
//                             keeps every end
//   recurrence/1f1b/64x4096   the same results from the costs alone: no lists, and no ends but
//                             those still needed
//   evaluate/1f1b/64xM        over four decades; counter slope of the last: log time over log
//                             instructions by least squares (1: linear)

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "planner/schedules/schedule.h"
#include "sim/evaluate.h"

namespace penstock {
namespace {

constexpr std::int32_t kStages = 64;
constexpr std::int32_t kMicrobatches = 4096;
constexpr std::int32_t kSlopeMicrobatches[] = {16, 160, 1'600, 16'000, 160'000};

Order one_f_one_b(std::int32_t microbatches) {
  const auto chosen = find_schedule("1f1b");
  PENSTOCK_CHECK(chosen.has_value(), "1f1b is a schedule");
  Shape shape;
  shape.stages = kStages;
  shape.microbatches = microbatches;
  auto order = emit(*chosen->schedule, shape);
  PENSTOCK_CHECK(order.has_value(), "1f1b admits every shape");
  return *std::move(order);
}

// F 1 ms, full backward 2 ms, 50 MB at 25 GB/s after 5 us.
OrderCosts costs_of(const Order& order) {
  return OrderCosts::uniform(order, Nanoseconds(1'000'000), Nanoseconds(1'000'000),
                             Nanoseconds(1'000'000), Nanoseconds(2'005'000));
}

// What both loops below share: an operation starts when its rank is free and its input has arrived.
class Clocks {
 public:
  Clocks(Evaluation& out, std::size_t ranks) : out_(out) {
    out.first_start.assign(ranks, Nanoseconds(-1));
    out.last_end.assign(ranks, Nanoseconds());
    out.busy.assign(ranks, Nanoseconds());
  }
  Nanoseconds run(std::size_t rank, Nanoseconds arrival, Nanoseconds duration) {
    const Nanoseconds start = std::max(out_.last_end[rank], arrival);
    if (out_.first_start[rank].value < 0) out_.first_start[rank] = start;
    out_.busy[rank] += duration;
    return out_.last_end[rank] = start + duration;
  }
  void finish() {
    out_.makespan = out_.span = Nanoseconds();
    for (std::size_t r = 0; r < out_.busy.size(); ++r) {
      out_.makespan = std::max(out_.makespan, out_.last_end[r]);
      out_.span = std::max(out_.span, out_.last_end[r] - out_.first_start[r]);
    }
  }

 private:
  Evaluation& out_;
};

// 1F1B as waves: wave i runs, at each rank r, F of microbatch i + p-1-r and then BF of microbatch
// i. A forward needs one of an earlier wave, a backward one of the same wave at the next rank. More
// microbatches than stages.
void recurrence_loop(std::size_t microbatches, const OrderCosts& costs,
                     std::vector<Nanoseconds>& forward, Evaluation& out) {
  const std::size_t p = costs.forward.size();
  forward.resize(p * microbatches);
  Clocks clocks(out, p);
  const auto run_forward = [&](std::size_t r, std::size_t i) {
    const Nanoseconds arrival =
        r == 0 ? Nanoseconds() : forward[(r - 1) * microbatches + i] + costs.activation[r - 1];
    forward[r * microbatches + i] = clocks.run(r, arrival, costs.forward[r]);
  };
  for (std::size_t r = 0; r < p; ++r) {
    for (std::size_t i = 0; i + 1 + r < p; ++i) run_forward(r, i);
  }
  for (std::size_t i = 0; i < microbatches; ++i) {
    for (std::size_t r = 0; r < p; ++r) {
      if (const std::size_t k = i + p - 1 - r; k < microbatches) run_forward(r, k);
    }
    Nanoseconds arrival;
    for (std::size_t r = p; r-- > 0;) {
      const Nanoseconds end =
          clocks.run(r, arrival, costs.backward_input[r] + costs.backward_weight[r]);
      if (r > 0) arrival = end + costs.gradient[r - 1];
    }
  }
  clocks.finish();
}

// The same waves, each operation as the next of its rank's list.
void floor_loop(const Order& order, const OrderCosts& costs, std::vector<Nanoseconds>& ends,
                std::vector<std::size_t>& next, Evaluation& out) {
  const std::size_t p = static_cast<std::size_t>(order.stages),
                    m = static_cast<std::size_t>(order.microbatches);
  ends.resize(2 * p * m);
  next.assign(order.first.begin(), order.first.end() - 1);
  Clocks clocks(out, p);
  const auto run = [&](std::size_t r) {
    const OrderOp& op = order.ops[next[r]++];
    const std::size_t s = op.stage, i = op.microbatch;
    if (op.op == Op::F) {
      const Nanoseconds arrival =
          s == 0 ? Nanoseconds() : ends[2 * (s - 1) * m + i] + costs.activation[s - 1];
      ends[2 * s * m + i] = clocks.run(r, arrival, costs.forward[s]);
    } else {
      const Nanoseconds arrival =
          s + 1 == p ? Nanoseconds() : ends[(2 * (s + 1) + 1) * m + i] + costs.gradient[s];
      ends[(2 * s + 1) * m + i] =
          clocks.run(r, arrival, costs.backward_input[s] + costs.backward_weight[s]);
    }
  };
  for (std::size_t r = 0; r < p; ++r) {
    for (std::size_t i = 0; i + 1 + r < p; ++i) run(r);
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t r = 0; r < p; ++r) {
      if (i + p - 1 - r < m) run(r);
    }
    for (std::size_t r = p; r-- > 0;) run(r);
  }
  clocks.finish();
}

void expect_same(const Evaluation& a, const Evaluation& b) {
  PENSTOCK_CHECK(a.makespan == b.makespan && a.span == b.span && a.first_start == b.first_start &&
                     a.last_end == b.last_end && a.busy == b.busy,
                 "the loops and the evaluator disagree");
}

void evaluate_case(benchmark::State& state, std::int32_t microbatches, Discipline discipline) {
  const Order order = one_f_one_b(microbatches);
  const OrderCosts costs = costs_of(order);
  Evaluator evaluator;
  for (auto _ : state)
    benchmark::DoNotOptimize((*evaluator.evaluate(order, costs, discipline))->makespan);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(order.ops.size()));
}

template <class Loop>
void loop_case(benchmark::State& state, Loop loop) {
  const Order order = one_f_one_b(kMicrobatches);
  const OrderCosts costs = costs_of(order);
  Evaluation out;
  for (auto _ : state) {
    loop(order, costs, out);
    benchmark::DoNotOptimize(out.makespan);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(order.ops.size()));
  Evaluator evaluator;
  expect_same(out, **evaluator.evaluate(order, costs));
}

std::string shape(std::int32_t microbatches) {
  return fmt::format("{}x{}", kStages, microbatches);
}

// Passes runs on, with the counters that compare them: of each case the best run so far counts.
class Comparing : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return shown_->ReportContext(context); }
  void Finalize() override { shown_->Finalize(); }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> out = runs;
    for (Run& run : out) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::string name = run.benchmark_name();
      const double seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
      const auto [at, is_new] = best_.emplace(name, seconds);
      if (!is_new) at->second = std::min(at->second, seconds);
      if (name == "evaluate/1f1b/" + shape(kMicrobatches)) {
        compare(run, "of_floor", "floor/1f1b/" + shape(kMicrobatches), at->second);
        compare(run, "of_recurrence", "recurrence/1f1b/" + shape(kMicrobatches), at->second);
      }
      if (name == "evaluate/1f1b/" + shape(*std::rbegin(kSlopeMicrobatches))) add_slope(run);
    }
    shown_->ReportRuns(out);
  }

 private:
  void compare(Run& run, const char* counter, const std::string& other, double seconds) {
    if (const auto found = best_.find(other); found != best_.end())
      run.counters[counter] = benchmark::Counter(found->second / seconds);
  }

  // Least squares of log time over log instructions.
  void add_slope(Run& run) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const std::int32_t microbatches : kSlopeMicrobatches) {
      const auto found = best_.find("evaluate/1f1b/" + shape(microbatches));
      if (found == best_.end()) return;
      const double size = std::log(2.0 * kStages * microbatches), time = std::log(found->second);
      n += 1, x += size, y += time, xx += size * size, xy += size * time;
    }
    run.counters["slope"] = benchmark::Counter((n * xy - x * y) / (n * xx - x * x));
  }

  std::unique_ptr<benchmark::BenchmarkReporter> shown_{benchmark::CreateDefaultDisplayReporter()};
  std::map<std::string, double> best_;
};

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const std::string large = shape(kMicrobatches);
  std::vector<Nanoseconds> ends;
  std::vector<std::size_t> next;
  const auto floor_of = [&](const Order& order, const OrderCosts& costs, Evaluation& out) {
    floor_loop(order, costs, ends, next, out);
  };
  const auto recurrence_of = [&](const Order&, const OrderCosts& costs, Evaluation& out) {
    recurrence_loop(kMicrobatches, costs, ends, out);
  };
  benchmark::RegisterBenchmark(("floor/1f1b/" + large).c_str(),
                               [&](benchmark::State& s) { loop_case(s, floor_of); });
  benchmark::RegisterBenchmark(("recurrence/1f1b/" + large).c_str(),
                               [&](benchmark::State& s) { loop_case(s, recurrence_of); });
  benchmark::RegisterBenchmark(("evaluate/1f1b/" + large).c_str(), evaluate_case, kMicrobatches,
                               Discipline::Eager);
  benchmark::RegisterBenchmark(("evaluate_rendezvous/1f1b/" + large).c_str(), evaluate_case,
                               kMicrobatches, Discipline::Rendezvous);
  for (const std::int32_t microbatches : kSlopeMicrobatches) {
    benchmark::RegisterBenchmark(("evaluate/1f1b/" + shape(microbatches)).c_str(), evaluate_case,
                                 microbatches, Discipline::Eager);
  }
  Comparing reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return 0;
}
