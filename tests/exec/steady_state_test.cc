// What whole runs allocate once their steps repeat: every rank, every stream, the watchdog. oneDNN's tables of arguments
// are known; all else must be nothing.

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "exec/backend.h"
#include "exec/data_source.h"
#include "exec/interpreter.h"
#include "exec/step_board.h"
#include "exec/watchdog.h"
#include "tests/exec/sample_plan.h"
#include "tests/support/allocation_recorder.h"

namespace penstock {
namespace {

// Repetitions of the body: what the first ones take for good they keep.
constexpr std::int32_t kWarm = 3, kSteady = 8, kAll = 9;

// All ranks of a program on this machine, as a run has them.
class Ranks {
 public:
  Ranks(const Plan& plan, const Program& program, const std::string& data)
      : steps_(kAll * program.body_steps),
        losses_(static_cast<std::size_t>(steps_ * plan.microbatches * 16)),
        gradient_norms_(static_cast<std::size_t>(steps_)),
        board_(steps_, 1),
        data_(*DataSource::open(data, plan.workload, 5)) {
    const std::size_t count = program.ranks.size();
    std::vector<Interpreter::Setup> setups(count);
    for (std::size_t r = 0; r < count; ++r)
      devices_.push_back(*backend_->rank_device(static_cast<std::int32_t>(r), static_cast<std::int32_t>(count)));
    for (std::size_t e = 0; e < program.edges.size(); ++e) {
      const ProgramEdge& edge = program.edges[e];
      edges_.push_back(backend_->connect(*devices_[edge.source.index()], *devices_[edge.destination.index()]));
      setups[edge.source.index()].senders[EdgeId(static_cast<std::int64_t>(e))] = edges_.back().sender.get();
      setups[edge.destination.index()].receivers[EdgeId(static_cast<std::int64_t>(e))] = edges_.back().receiver.get();
    }
    for (std::size_t g = 0; g < program.groups.size(); ++g) {
      std::vector<RankDevice*> members;
      for (const RankId rank : program.groups[g].ranks) members.push_back(devices_[rank.index()].get());
      groups_.push_back(backend_->assemble(members));
      for (std::size_t m = 0; m < members.size(); ++m)
        setups[program.groups[g].ranks[m].index()].groups[GroupId(static_cast<std::int64_t>(g))] = groups_.back()[m].get();
    }
    for (std::size_t r = 0; r < count; ++r) {
      Interpreter::Setup& setup = setups[r];
      setup.plan = &plan;
      setup.program = &program;
      setup.rank = RankId(static_cast<std::int64_t>(r));
      setup.device = devices_[r].get();
      setup.data = &data_;
      setup.losses = losses_.data();
      setup.gradient_norms = gradient_norms_.data();
      setup.board = &board_;
      setup.steps = steps_;
      auto rank = Interpreter::load(std::move(setup));
      EXPECT_TRUE(rank) << (rank ? "" : rank.error().text());
      if (rank) ranks_.push_back(std::move(*rank));
    }
  }

  // Between two meetings of all ranks.
  std::vector<test::Allocation> steady_allocations() {
    std::vector<test::Allocation> out;
    StepGate gate(kAll, {.ranks = static_cast<std::int32_t>(ranks_.size()),
                         .before = [](std::int32_t repetition) { return repetition == kWarm || repetition == kSteady; },
                         .attend = [&](std::int32_t repetition) -> Result<void> {
                           if (repetition == kWarm) test::record_allocations();
                           if (repetition == kSteady) out = test::recorded_allocations();
                           return {};
                         }});
    const Watchdog watchdog(ranks_, Nanoseconds(60'000'000'000), [&] { return backend_->now(); },
                            [&] { while (board_.take()) {} });
    std::vector<std::thread> threads;
    for (const auto& rank : ranks_) {
      threads.emplace_back([&] {
        const auto done = rank->run(gate);
        EXPECT_TRUE(done) << done.error().text();
        if (!done) gate.abandon();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return out;
  }

 private:
  std::int32_t steps_;
  std::vector<double> losses_, gradient_norms_;
  StepBoard board_;
  DataSource data_;
  std::vector<std::unique_ptr<Interpreter>> ranks_;
  std::vector<CommunicatorPair> edges_;
  std::vector<std::vector<std::unique_ptr<GroupCommunicator>>> groups_;
  std::unique_ptr<Backend> backend_ = *open_backend("cpu");
  std::vector<std::unique_ptr<RankDevice>> devices_;
};

void expect_nothing_is_allocated(const Plan& plan, const std::string& data) {
  const Program program = test::sample_program(plan);
  SCOPED_TRACE(program.name);
  std::map<std::string, std::size_t> foreign;  // callers, to be told
  const std::vector<test::Allocation> seen = Ranks(plan, program, data).steady_allocations();
  EXPECT_GT(seen.size(), 0u) << "oneDNN's own are not seen: nothing was recorded";
  EXPECT_LT(seen.size(), test::kMostAllocations) << "more than can be recorded";
  for (const test::Allocation& allocation : seen) {
    if (test::is_from_onednn(allocation)) continue;
    Dl_info info{};
    const bool known = dladdr(allocation.caller, &info) != 0;
    ++foreign[fmt::format("{} bytes for {}+{:#x}", allocation.bytes, known ? info.dli_fname : "?",
                          known ? static_cast<const char*>(allocation.caller) - static_cast<const char*>(info.dli_fbase) : 0)];
  }
  for (const auto& [caller, times] : foreign) ADD_FAILURE() << times << " times " << caller;
}

class SteadyState : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_record_allocations()) GTEST_SKIP() << "allocations cannot be recorded here";
  }
};

Optimizer clipping(OptimizerKind kind) {
  Optimizer optimizer = default_optimizer(kind);
  optimizer.clip = 0.5;
  return optimizer;
}

struct Subject {
  std::string workload, data;
  std::vector<LayerKind> recompute;
};

std::vector<Subject> subjects() {
  return {{"gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8", test::sample_text(), {LayerKind::Gelu, LayerKind::Attention}},
          {"resnet:width=8,size=16,stages=2,classes=4,batch=8", "synthetic", {LayerKind::Relu}},
          {"unet:width=4,size=16,batch=8", "synthetic", {LayerKind::Relu}}};
}

TEST_F(SteadyState, OfPipelinesInEitherPrecisionAllocatesNothing) {
  for (const Subject& subject : subjects()) {
    for (const Precision precision : {Precision::F32, Precision::BF16}) {
      for (const char* schedule : {"1f1b", "gpipe"}) {
        expect_nothing_is_allocated(
            test::sample_plan(subject.workload, schedule, 2, 2, clipping(OptimizerKind::Adam), {}, precision), subject.data);
      }
    }
  }
}

TEST_F(SteadyState, OfReplicasThatAddUpTheirGradientsAllocatesNothing) {
  for (const Subject& subject : subjects()) {
    for (const Precision precision : {Precision::F32, Precision::BF16}) {
      for (const Split split : {Split::Batch, Split::RoundRobin}) {
        for (const std::vector<std::int32_t>& replicas : std::vector<std::vector<std::int32_t>>{{2}, {2, 1}, {2, 2}}) {
          expect_nothing_is_allocated(
              test::replicated_plan(subject.workload, "1f1b", replicas, split, 2, clipping(OptimizerKind::Adam), {}, precision),
              subject.data);
        }
      }
    }
  }
}

TEST_F(SteadyState, OfRecomputationAndOfEveryOptimizerAllocatesNothing) {
  for (const Subject& subject : subjects()) {
    for (const auto& [kind, kind_name] : enum_names(OptimizerKind{})) {
      SCOPED_TRACE(kind_name);
      for (const Optimizer& optimizer : {default_optimizer(kind), clipping(kind)}) {
        expect_nothing_is_allocated(
            test::sample_plan(subject.workload, "1f1b", 2, 4, optimizer, subject.recompute, Precision::BF16), subject.data);
      }
    }
  }
}

// The measure itself: what a step does allocate is seen.
TEST_F(SteadyState, AnAllocationOfAnyThreadIsNoticed) {
  test::record_allocations();
  std::thread([] {
    std::vector<int>* volatile list = new std::vector<int>(50);  // or the compiler would leave it out
    delete list;
  }).join();
  const auto seen = test::recorded_allocations();
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const test::Allocation& a) { return a.bytes == 50 * sizeof(int); }));
}

}  // namespace
}  // namespace penstock
