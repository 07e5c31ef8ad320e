#include "exec/backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/evaluator.h"
#include "exec/interpreter.h"
#include "exec/losses.h"
#include "exec/replicated_reference.h"
#include "exec/run.h"
#include "exec/training.h"
#include "tests/exec/guarded_device.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

using test::guarded_device;

const std::string kTiny = "gpt:layers=2,hidden=16,heads=2,sequence=8,batch=8";

RunOptions two_steps() {
  RunOptions options;
  options.steps = 2;
  options.seed = 5;
  options.data = test::sample_text();
  return options;
}

Optimizer clipping_adam() {
  Optimizer optimizer;
  optimizer.kind = OptimizerKind::Adam;
  optimizer.learning_rate = 1e-3;
  optimizer.clip = 0.05;
  return optimizer;
}

TEST(Backend, OneThatThisBuildLacksIsUnavailableAndThoseThereAreAreNamed) {
  const auto backend = open_backend("abacus");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::Unavailable);
  EXPECT_NE(backend.error().message.find("abacus"), std::string::npos);
  EXPECT_EQ(backend.error().hint, "--backend cpu");
  const Plan plan = test::sample_plan(kTiny, "gpipe", 1, 4);
  RunOptions options = two_steps();
  options.backend = "abacus";
  EXPECT_EQ(run(plan, test::sample_program(plan), options).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(run_reference(plan, options).error().code, ErrorCode::Unavailable);
  EXPECT_TRUE(open_backend("cpu"));
}

// What follows runs where the host cannot see the device's memory: what touches it other than through the interface crashes.

TEST(DeviceInterface, IsAllThatAReplicatedReferenceNeeds) {
  for (const Split split : {Split::Batch, Split::RoundRobin}) {
    const Plan plan = test::replicated_plan(kTiny, "1f1b", {2, 1}, split, 2, clipping_adam());
    const RunOptions options = two_steps();
    const auto training = Training::prepare(plan, options, {.updates = 3});
    ASSERT_TRUE(training) << training.error().text();
    const auto data = DataSource::open(options.data, plan.workload, options.seed);
    const std::unique_ptr<RankDevice> device = guarded_device();
    const auto network = ReplicatedNetwork::make(plan, *data, *device, options.seed, **training);
    ASSERT_TRUE(network) << network.error().text();
    Timeline timeline;
    for (std::int32_t step = 0; step < 2; ++step) ASSERT_TRUE((*network)->step(step, timeline));
    EXPECT_EQ(weights_digest(plan.workload, **network), run_reference(plan, options)->timeline.weights_digest);
  }
}

TEST(DeviceInterface, IsAllThatAReferenceOfOneCopyNeeds) {
  const Plan plan = test::sample_plan(kTiny, "gpipe", 1, 4, clipping_adam());
  const RunOptions options = two_steps();
  const auto data = DataSource::open(options.data, plan.workload, options.seed);
  const std::unique_ptr<RankDevice> device = guarded_device();
  std::vector<double> losses(static_cast<std::size_t>(2 * plan.microbatches));
  const auto network = WholeNetwork::make(plan.workload, *data, *device,
                                          {.microbatch_size = plan.microbatch_size, .microbatches = plan.microbatches,
                                           .seed = options.seed, .losses = losses.data()});
  ASSERT_TRUE(network) << network.error().text();
  const StreamHandle stream = device->create_stream("test", StreamRole::Compute);
  Stage& stage = (*network)->stage();
  const StageMemoryMap& memory = (*network)->memory(0);
  for (std::int32_t step = 0; step < 2; ++step) {
    std::vector<std::unique_ptr<StageCall>> calls;
    for (std::int32_t m = 0; m < plan.microbatches; ++m) {
      calls.push_back(stage.load(memory, m));
      calls.push_back(stage.forward(memory, m));
      calls.push_back(stage.loss(memory, m));
      calls.push_back(stage.backward(memory, m));
    }
    calls.push_back(stage.squared_norms(memory));
    calls.push_back(stage.update(memory));
    for (const auto& call : calls) device->launch(stream, *call, {.instruction = 0, .step = step}, nullptr);
    ASSERT_TRUE(device->synchronize());
  }
  EXPECT_EQ(weights_digest(plan.workload, **network), run_reference(plan, options)->timeline.weights_digest);
}

TEST(DeviceInterface, IsAllThatAnEvaluationNeeds) {
  class Zeros final : public ParameterAccess {
    void read(std::size_t, std::int32_t, std::span<float> out) const override { std::fill(out.begin(), out.end(), 0.0f); }
    void write(std::size_t, std::int32_t, std::span<const float>) override {}
  };
  const Plan plan = test::sample_plan(kTiny, "gpipe", 1, 4);
  const auto evaluator = Evaluator::make(plan, {.data = test::sample_text(), .batches = 2}, 3, guarded_device());
  ASSERT_TRUE(evaluator) << evaluator.error().text();
  const auto loss = (*evaluator)->loss(Zeros());
  ASSERT_TRUE(loss);
  EXPECT_NEAR(*loss, std::log(256.0), 1e-6) << "all bytes are as likely";
}

TEST(DeviceInterface, IsAllThatTheInterpreterNeeds) {
  Optimizer adam = clipping_adam();
  adam.clip = 0;  // norms would be exchanged with nobody
  for (const Optimizer& optimizer : {Optimizer{}, adam}) {
    const Plan plan = test::sample_plan(kTiny, "gpipe", 1, 4, optimizer);
    const Program program = test::sample_program(plan);
    const RunOptions options = two_steps();
    const auto data = DataSource::open(options.data, plan.workload, options.seed);
    std::vector<double> losses(static_cast<std::size_t>(2 * plan.microbatches));
    const std::unique_ptr<RankDevice> device = guarded_device();
    const auto rank = Interpreter::load({.plan = &plan, .program = &program, .rank = RankId(0), .device = device.get(),
                                         .data = &*data, .losses = losses.data(), .senders = {}, .receivers = {}, .groups = {},
                                         .steps = 2, .seed = options.seed});
    ASSERT_TRUE(rank) << rank.error().text();
    StepGate gate(2);
    ASSERT_TRUE((*rank)->run(gate));
    const auto reference = run_reference(plan, options);
    EXPECT_EQ(step_losses(losses, plan.microbatches, 2), reference->timeline.losses);
    const Parameter& last = *all_parameters(plan.workload).back();
    std::vector<float> values(static_cast<std::size_t>(last.elements()));
    (*rank)->read_parameter(parameter_places(plan).back(), -1, values);
    EXPECT_NE(values, initial_values(last, options.seed));
  }
}

}  // namespace
}  // namespace penstock
