#include "planner/lower.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <memory>

#include "core/program_check.h"
#include "planner/candidate.h"
#include "tests/planner/random_workloads.h"

namespace penstock {
namespace {

// A plan of a random network, divided at random.
struct RandomPlan {
  Workload workload;
  Cluster cluster;
  CostTable costs;
  Setting setting;
  std::vector<std::int32_t> ends;
  Plan plan;
};

std::unique_ptr<RandomPlan> random_plan(std::uint64_t seed, const char* schedule = nullptr,
                                        std::int64_t least_stages = 1) {
  test::Draws draws(seed);
  auto made = std::make_unique<RandomPlan>();
  const std::int64_t microbatch = draws.between(1, 2);
  made->workload =
      test::random_workload(draws, draws.between(2, 14), microbatch * draws.between(1, 7));
  const auto n = static_cast<std::int32_t>(made->workload.networks[0].layers.size());
  const auto p = static_cast<std::int32_t>(draws.between(least_stages, std::min(n, 5)));
  made->cluster = test::random_cluster(draws, p, Bytes(1 << 30), draws.chance(0.5));
  made->costs = test::random_costs(draws, made->workload, microbatch, 1000);
  const ChosenSchedule chosen = *find_schedule(schedule != nullptr ? schedule
                                               : draws.chance(0.5) ? "gpipe"
                                                                   : "1f1b");
  made->setting = *make_setting(made->workload, made->cluster, made->costs, chosen, p, Bytes(0));
  for (std::int32_t s = 1, end = 0; s <= p; ++s) {
    end = s == p ? n : static_cast<std::int32_t>(draws.between(end + 1, n - (p - s)));
    made->ends.push_back(end);
  }
  made->plan = *plan_of(made->setting, made->ends);
  return made;
}

TEST(Lower, EveryPlanIsValidAndItsProgramProvedUnderBothDisciplines) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto made = random_plan(seed);
    Plan plan = made->plan;
    plan.iteration_time_s = plan.throughput_samples_per_s = 1;
    const Result<void> valid = validate(plan);
    ASSERT_TRUE(valid.has_value()) << "seed " << seed << ": " << valid.error().text();
    const Result<Program> program = lower(plan);
    ASSERT_TRUE(program.has_value()) << "seed " << seed << ": " << program.error().text();
    for (const Violation& violation : check(*program))
      ADD_FAILURE() << "seed " << seed << " " << violation.rule << ": " << violation.message;
  }
}

TEST(Lower, TheLeastMemoryOfADivisionIsNeverMoreThanItsProgramTakes) {
  double nearest = 1e9, furthest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto made = random_plan(seed);
    const Result<Program> program = lower(made->plan);
    ASSERT_TRUE(program.has_value());
    StageGrower range(made->workload, made->costs);
    for (std::size_t s = 0; s < made->ends.size(); ++s) {
      range.start(s == 0 ? 0 : made->ends[s - 1]);
      while (range.end() < made->ends[s]) range.extend();
      const Bytes least =
          least_memory(range.figures(), made->setting.problem, static_cast<std::int32_t>(s));
      ASSERT_LE(least, program->live_peak[s]) << "seed " << seed << " stage " << s;
      const double ratio =
          static_cast<double>(program->arena[s].value) / static_cast<double>(least.value);
      nearest = std::min(nearest, ratio);
      furthest = std::max(furthest, ratio);
    }
  }
  EXPECT_EQ(nearest, 1.0);
  EXPECT_LT(furthest, 1.5);
}

TEST(Lower, RowsAreTheBuffersOfTheStage) {
  const auto made = random_plan(11, "1f1b", 3);
  const Program program = *lower(made->plan);
  const auto m = static_cast<std::size_t>(made->plan.microbatches);
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const StageMemory& memory = made->plan.stages[r].memory;
    std::map<BufferClass, std::size_t> rows;
    for (const Buffer& buffer : program.buffers_of(RankId(static_cast<std::int64_t>(r)))) {
      ++rows[buffer.cls];
      EXPECT_EQ(buffer.stage, r);
      if (buffer.cls == BufferClass::Stash) {
        EXPECT_EQ(buffer.bytes, memory.stash);
      }
      if (buffer.cls == BufferClass::Data) {
        EXPECT_EQ(buffer.bytes, memory.data);
      }
      if (buffer.cls == BufferClass::Weights) {
        EXPECT_EQ(buffer.bytes, memory.parameters);
      }
      if (buffer.cls == BufferClass::Workspace) {
        EXPECT_EQ(buffer.bytes, memory.workspace);
      }
      if (buffer.cls == BufferClass::SendBuffer || buffer.cls == BufferClass::ReceiveBuffer) {
        EXPECT_EQ(buffer.bytes, program.edges[static_cast<std::size_t>(buffer.owner)].bytes);
      }
    }
    std::size_t in = 0, out = 0;
    for (const PlanEdge& edge : made->plan.edges)
      in += edge.to.index() == r, out += edge.from.index() == r;
    EXPECT_EQ(rows[BufferClass::Stash], m);
    EXPECT_EQ(rows[BufferClass::Data], memory.data.value > 0 ? m : 0u);
    EXPECT_EQ(rows[BufferClass::SendBuffer], m * (in + out));
    EXPECT_EQ(rows[BufferClass::ReceiveBuffer], m * out);
    EXPECT_EQ(rows[BufferClass::Weights], memory.parameters.value > 0 ? 1u : 0u);
    EXPECT_EQ(rows[BufferClass::Optimizer], memory.optimizer.value > 0 ? 1u : 0u);
    EXPECT_EQ(rows[BufferClass::Workspace], memory.workspace.value > 0 ? 1u : 0u);
  }
}

TEST(Lower, StagesStayWhereThePlanPutsThem) {
  auto made = random_plan(4, "1f1b", 2);
  Plan& plan = made->plan;
  std::swap(plan.stages[0].devices, plan.stages[1].devices);
  const Order order = *order_of(plan);
  EXPECT_EQ(order.rank(StageId(0)), RankId(1));
  EXPECT_EQ(order.of(RankId(1)).front().stage, 0);
  const Program program = *lower(plan);
  EXPECT_TRUE(check(program).empty());
  EXPECT_EQ(program.ranks[1].streams[0].body.front().key.op, Op::Load);
}

TEST(Lower, PutsRRightBeforeTheBackwardsOfStagesThatRecompute) {
  Order order = chain_order(2, 2);
  order.ops = {{Op::F, 0, 0, 0}, {Op::BF, 0, 0, 0}, {Op::F, 0, 1, 0}, {Op::B, 0, 1, 0}, {Op::W, 0, 1, 0}};
  order.first = {0, 2, 5};
  const auto list = [&](const Order& o, int rank) {
    std::string out;
    for (const OrderOp& op : o.of(RankId(rank))) out += text(op) + ' ';
    return out;
  };
  const Order both = with_recompute(order, {true, true}), last = with_recompute(order, {false, true});
  EXPECT_EQ(list(both, 0), "F 0.0 R 0.0 BF 0.0 ");
  EXPECT_EQ(list(both, 1), "F 1.0 R 1.0 B 1.0 W 1.0 ");
  EXPECT_EQ(list(last, 0), "F 0.0 BF 0.0 ");
  EXPECT_EQ(list(last, 1), list(both, 1));
}

TEST(Lower, RefusesWhatNoProgramIsMadeOf) {
  const auto made = random_plan(4, "1f1b", 2);
  Plan two = made->plan;
  two.stages[1].devices = {RankId(0)};
  EXPECT_EQ(lower(two).error().code, ErrorCode::Infeasible);
  EXPECT_EQ(lower(two).error().message, "stages 0 and 1 are both on rank 0");
  Plan replicated = made->plan;
  replicated.stages[0].replicas = 2;
  EXPECT_EQ(lower(replicated).error().code, ErrorCode::Infeasible);
  Plan unknown = made->plan;
  unknown.schedule.name = "zigzag";
  EXPECT_EQ(lower(unknown).error().code, ErrorCode::Usage);
}

TEST(Lower, RefusesTimesThatNoProgramMayHave) {
  const auto made = random_plan(4, "1f1b", 2);
  Plan plan = made->plan;
  plan.stages[0].times.backward_input = plan.stages[0].times.backward_weight = kLongestTime;
  const Result<Program> program = lower(plan);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message, "BF stage 0 takes 53.4 days");
}

TEST(Lower, RefusesBytesThatAreNotThoseOfTheLayers) {
  const auto made = random_plan(4, "1f1b", 2);
  Plan plan = made->plan;
  plan.stages[0].memory.stash -= Bytes(64);
  const Result<Program> program = lower(plan);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::BadInput);
  EXPECT_EQ(program.error().where.pointer, "/stages/0/memory/stash");
  plan = made->plan;
  for (PlanStage& stage : plan.stages) stage.memory.workspace = Bytes(0);
  EXPECT_FALSE(lower(plan).has_value());
}

TEST(Lower, CostsOfAPlanCountLoadAndLossInTheForward) {
  const auto made = random_plan(4, "1f1b", 2);
  const Order order = *order_of(made->plan);
  const OrderCosts costs = order_costs(made->plan, order);
  for (std::size_t s = 0; s < made->plan.stages.size(); ++s) {
    EXPECT_EQ(costs.forward[s], made->plan.stages[s].times.order_forward());
    EXPECT_EQ(costs.step[s], made->plan.stages[s].times.step);
  }
  EXPECT_EQ(costs.activation.size(), made->plan.edges.size());
}

// What a program of a quarter of a million stage-microbatches may take: measured in the same units
// as its instructions.
TEST(Lower, ALargeProgramTakesLessThanAHundredBytesAnInstruction) {
  Shape shape;
  shape.stages = 64;
  shape.microbatches = 4096;
  Order order = with_steps(*emit(*find_schedule("1f1b")->schedule, shape));
  const OrderCosts costs = OrderCosts::uniform(order, Nanoseconds(1000), Nanoseconds(1000),
                                               Nanoseconds(1000), Nanoseconds(10));
  const Program bare = lower(order, costs, Bytes(4096));
  EXPECT_EQ(bare.instruction_count(), 64u * 4096 * 2 + 63u * 4096 * 4 + 64 + 126);
  EXPECT_LT(bare.resident_bytes(), 100 * bare.instruction_count());

  // With all the buffers of a plan: parts as a plan of 64 equal stages gives them.
  test::Draws draws(1);
  const Workload workload = test::random_workload(draws, 80, 4096);
  const Cluster cluster = test::random_cluster(draws, 64, Bytes(std::int64_t{1} << 40), false);
  const CostTable costs_of_layers = test::random_costs(draws, workload, 1, 1000);
  const Setting setting =
      *make_setting(workload, cluster, costs_of_layers, *find_schedule("1f1b"), 64, Bytes(0));
  std::vector<std::int32_t> ends;
  const auto n = static_cast<std::int32_t>(workload.networks[0].layers.size());
  for (std::int32_t s = 1; s <= 64; ++s) ends.push_back(s * n / 64);
  const Plan plan = *plan_of(setting, ends);
  const std::clock_t start = std::clock();
  const Program program = *lower(plan);
  // Under a second where nothing else runs; what is quadratic takes hours.
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20);
  EXPECT_GT(program.instruction_count(), 1'500'000u);
  EXPECT_LT(program.resident_bytes(), 100 * program.instruction_count());
}

}  // namespace
}  // namespace penstock
