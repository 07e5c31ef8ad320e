#include "exec/interpreter.h"

#include <gtest/gtest.h>

#include "exec/run.h"
#include "exec/step_gate.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

RunOptions one_step() {
  RunOptions options;
  options.steps = 1;
  options.data = test::sample_text();
  return options;
}

const std::string kTiny = "gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4";

TEST(Interpreter, RefusesOperationsOfLaterUseByName) {
  const Plan plan = test::sample_plan(kTiny, "1f1b", 2, 1);
  for (const auto& [op, op_name] : kOpNames) {
    if (op == Op::Load || op == Op::F || op == Op::R || op == Op::BF || op == Op::Loss || op == Op::Send || op == Op::Recv || op == Op::Step ||
        op == Op::Wait || op == Op::AllReduce || op == Op::Gather) {
      continue;
    }
    Program program = test::sample_program(plan);
    program.ranks[0].streams[0].body.front().key.op = op;
    const auto result = run(plan, program, one_step());
    ASSERT_FALSE(result) << op_name;
    EXPECT_EQ(result.error().code, ErrorCode::Unavailable);
    EXPECT_NE(result.error().message.find(op_name), std::string::npos) << result.error().message;
  }
}

TEST(Interpreter, RefusesAWorkspaceTooSmallForTheKernels) {
  const Plan plan = test::sample_plan(kTiny, "1f1b", 1, 1);
  Program program = test::sample_program(plan);
  for (Buffer& buffer : program.buffers) {
    if (buffer.cls == BufferClass::Workspace) buffer.bytes = Bytes(64);
  }
  const auto result = run(plan, program, one_step());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Infeasible);
  EXPECT_NE(result.error().message.find("workspace"), std::string::npos);
  EXPECT_FALSE(result.error().hint.empty());
}

TEST(Interpreter, RefusesStreamsThatWaitForOneAnotherInACircle) {
  const Plan plan = test::sample_plan(kTiny, "1f1b", 2, 1);
  Program program = test::sample_program(plan);
  Instruction& first = program.ranks[0].streams[0].body.front();  // waits for what comes after it
  first.after_stream = 1;
  first.after_index = 0;
  const auto result = run(plan, program, one_step());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("circle"), std::string::npos);
}

TEST(StepGate, OnceClosedNobodyStartsAStepThatNobodyHasStarted) {
  StepGate gate(100);
  EXPECT_TRUE(gate.enter(0));
  EXPECT_TRUE(gate.enter(1));
  gate.close();
  EXPECT_TRUE(gate.enter(1));  // another rank catches up
  EXPECT_FALSE(gate.enter(2));
  EXPECT_EQ(gate.repetitions(), 2);
}

}  // namespace
}  // namespace penstock
