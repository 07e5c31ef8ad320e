// Where a rank's instructions find their memory, as the bytes that a run leaves there show.

#include <gtest/gtest.h>

#include "exec/run.h"
#include "tests/exec/sample_plan.h"

namespace penstock {
namespace {

TEST(InterpreterMemory, PartsOfAMessageReachTheirPlaceWhateverTheSplit) {
  // 3 copies with 2, 1 and 1 samples against 2 with 2 and 2: messages of one sample and of two, at offsets that differ at
  // both ends. A wrong place would change the losses.
  RunOptions options;
  options.steps = 3;
  options.data = test::sample_text();
  const std::string gpt = "gpt:layers=2,hidden=32,heads=2,sequence=16,batch=8";
  const Plan plan = test::replicated_plan(gpt, "1f1b", {3, 2, 1}, Split::Batch, 4);
  const auto ran = run(plan, test::sample_program(plan), options);
  ASSERT_TRUE(ran) << ran.error().text();
  const Plan single = test::sample_plan(gpt, "1f1b", 1, 4);
  const auto whole = run(single, test::sample_program(single), options);
  ASSERT_TRUE(whole) << whole.error().text();
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(ran->timeline.losses[step], whole->timeline.losses[step], 1e-5);
  }
}

TEST(InterpreterMemory, AProgramWithoutABufferForAMessageIsRefused) {
  const Plan plan = test::replicated_plan("mlp:layers=5,width=48,batch=8", "1f1b", {2, 1}, Split::Batch, 2);
  Program program = test::sample_program(plan);
  program.edges[1].send_buffer = EdgeId(0);  // of another rank
  RunOptions options;
  options.steps = 1;
  options.data = test::sample_text();
  const auto ran = run(plan, program, options);
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("has no buffer on rank 1"), std::string::npos) << ran.error().message;
}

}  // namespace
}  // namespace penstock
