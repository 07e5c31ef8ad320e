#include "exec/evaluator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/backend.h"
#include "tests/exec/sample_plan.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

// Initial values, as every run has them before its first step.
class Initial final : public ParameterAccess {
 public:
  Initial(const Workload& workload, std::uint64_t seed) : all_(all_parameters(workload)), seed_(seed) {}
  void read(std::size_t parameter, std::int32_t, std::span<float> out) const override {
    const std::vector<float> values = initial_values(*all_[parameter], seed_);
    std::copy(values.begin(), values.end(), out.begin());
  }
  void write(std::size_t, std::int32_t, std::span<const float>) override { ADD_FAILURE() << "an evaluation writes nothing"; }

 private:
  std::vector<const Parameter*> all_;
  std::uint64_t seed_;
};

std::unique_ptr<RankDevice> lone_device() { return *(*open_backend("cpu"))->lone_device(); }

double loss(const Plan& plan, std::int64_t batches, std::uint64_t seed, std::uint64_t weights = 3) {
  auto evaluator = Evaluator::make(plan, {.data = test::sample_text(), .batches = batches}, seed, lone_device());
  EXPECT_TRUE(evaluator);
  const Initial initial(plan.workload, weights);
  const auto first = (*evaluator)->loss(initial), second = (*evaluator)->loss(initial);
  EXPECT_TRUE(first && second);
  EXPECT_EQ(*first, *second) << "the samples are the same each time";
  return *first;
}

TEST(Evaluator, IsTheMeanOverItsBatchesAndTheSameEachTime) {
  const Plan plan = test::sample_plan("mlp:layers=3,width=16,batch=4", "gpipe", 1, 2);
  const double one = loss(plan, 1, 3), two = loss(plan, 2, 3);
  EXPECT_GT(one, 0);
  EXPECT_NE(one, two);
  EXPECT_NE(one, loss(plan, 1, 4)) << "another seed draws other samples";
}

TEST(Evaluator, DrawsOtherSamplesThanTraining) {
  const Plan plan = test::sample_plan("gpt:layers=1,hidden=16,heads=1,sequence=8,batch=4", "gpipe", 1, 4);
  RunOptions options;
  options.steps = 1;
  options.seed = 3;
  options.data = test::sample_text();
  const auto trained = run_reference(plan, options);
  ASSERT_TRUE(trained);
  EXPECT_NE(loss(plan, 1, 3), trained->timeline.losses[0]);
  EXPECT_NEAR(loss(plan, 1, 3), trained->timeline.losses[0], 0.5);
}

// What the last position of a pass gets right, and what the first, must show in the share: so it is a count of rows.
TEST(Evaluator, AccuracyIsOfLossesOverClassesAndCountsRows) {
  const Plan plan = test::sample_plan("mlp:layers=3,width=16,input=8,batch=4", "gpipe", 1, 2);
  auto evaluator = Evaluator::make(plan, {.data = test::sample_text(), .batches = 3}, 3, lone_device());
  ASSERT_TRUE(evaluator);
  EXPECT_FALSE((*evaluator)->accuracy());
  for (int twice = 0; twice < 2; ++twice) {
    ASSERT_TRUE((*evaluator)->loss(Initial(plan.workload, 3)));
    ASSERT_TRUE((*evaluator)->accuracy());
    const double rows = *(*evaluator)->accuracy() * 3 * 4 * 8;  // batches of 4 samples of 8 positions
    EXPECT_NEAR(rows, std::round(rows), 1e-9);
    EXPECT_LE(*(*evaluator)->accuracy(), 1);
  }
}

// Who has only ever seen a's says a. Of eight letters in a row of a text of a's and b's in turn, four are.
TEST(Evaluator, AccuracyIsTheShareThatIsRight) {
  const test::TempDir folder;
  RunOptions options;
  options.data = (folder / "a").string();
  options.evaluation = {.data = (folder / "ab").string(), .every = 1, .batches = 3};
  options.steps = 30;
  test::write_file(options.data, std::string(200, 'a'));
  std::string both;
  while (both.size() < 300) both += "ab";
  test::write_file(options.evaluation.data, both);
  const auto result = run_reference(test::sample_plan("mlp:layers=3,width=16,input=8,batch=4", "gpipe", 1, 2), options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->evaluations.back().accuracy, 0.5);
}

TEST(Evaluator, ALossThatIsNotOverClassesHasNoAccuracy) {
  const Plan plan = test::sample_plan("unet:size=8,width=4,batch=2", "gpipe", 1, 1);
  auto evaluator = Evaluator::make(plan, {.data = "synthetic", .batches = 1}, 3, lone_device());
  ASSERT_TRUE(evaluator) << evaluator.error().text();
  ASSERT_TRUE((*evaluator)->loss(Initial(plan.workload, 3)));
  EXPECT_FALSE((*evaluator)->accuracy());
}

// A text of one letter is learnt by heart.
TEST(Evaluator, OfWhatIsCertainTheAccuracyIsOne) {
  const test::TempDir folder;
  RunOptions options;
  options.data = (folder / "text").string();
  test::write_file(options.data, std::string(200, 'a'));
  options.evaluation = {.data = options.data, .every = 1, .batches = 2};
  options.steps = 30;
  const auto result = run_reference(test::sample_plan("mlp:layers=3,width=16,input=8,batch=4", "gpipe", 1, 2), options);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->evaluations.back().accuracy, 1);
}

TEST(Evaluator, StopsBetweenMicrobatchesWhenAsked) {
  const Plan plan = test::sample_plan("mlp:layers=3,width=16,batch=4", "gpipe", 1, 2);
  auto evaluator = Evaluator::make(plan, {.data = test::sample_text(), .batches = 1'000'000}, 3, lone_device());
  ASSERT_TRUE(evaluator);
  std::stop_source stop;
  stop.request_stop();
  const auto loss = (*evaluator)->loss(Initial(plan.workload, 3), stop.get_token());
  ASSERT_FALSE(loss);
  EXPECT_EQ(loss.error().code, ErrorCode::Interrupted);
}

TEST(Evaluator, DataThatIsNotThereIsAnError) {
  const Plan plan = test::sample_plan("mlp:layers=3,width=16,batch=4", "gpipe", 1, 2);
  EXPECT_FALSE(Evaluator::make(plan, {.data = "/no/such/text"}, 0, lone_device()));
}

}  // namespace
}  // namespace penstock
