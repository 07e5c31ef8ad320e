#include "cli/metrics_file.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/support/files.h"

namespace penstock::cli {
namespace {

Plan plan_with(double clip) {
  Plan plan;
  plan.workload.name = "w";
  plan.workload.global_batch = 6;
  plan.workload.optimizer.clip = clip;
  return plan;
}

TEST(MetricsFile, EachLineIsAWholeDocumentThatIsThereAtOnce) {
  const test::TempDir folder;
  const std::string path = (folder / "m").string();
  auto metrics = MetricsFile::open(path);
  ASSERT_TRUE(metrics);
  metrics->begin(plan_with(1), {.steps = 5, .seed = 3}, true);
  metrics->add(StepReport{.step = 4, .loss = 0.5, .learning_rate = 0.25, .gradient_norm = 2, .took = Nanoseconds(3'000'000'000)});
  metrics->add(EvaluationReport{.step = 5, .loss = 0.75});
  // Read while the file is still open.
  const std::string text = test::read_file(path);
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "{\"step\": 4, \"loss\": 0.5, \"learning_rate\": 0.25, \"gradient_norm\": 2.0, \"step_time_s\": 3.0, "
            "\"samples_per_s\": 2.0}\n{\"steps\": 5, \"evaluation_loss\": 0.75}\n");
  const auto header = parse_json(text.substr(0, text.find('\n')), "m");
  ASSERT_TRUE(header);
  for (const char* key : {"schema", "workload", "plan_digest", "global_batch", "steps", "seed", "reference"}) {
    EXPECT_NE(header->find(key), nullptr) << key;
  }
}

TEST(MetricsFile, WithoutClippingThereIsNoNorm) {
  const test::TempDir folder;
  const std::string path = (folder / "m").string();
  auto metrics = MetricsFile::open(path);
  ASSERT_TRUE(metrics);
  metrics->begin(plan_with(0), {}, false);
  metrics->add(StepReport{.step = 0});
  EXPECT_EQ(test::read_file(path).find("gradient_norm"), std::string::npos);
}

TEST(MetricsFile, NothingIsWrittenIfNothingIsAskedFor) {
  auto metrics = MetricsFile::open("");
  ASSERT_TRUE(metrics);
  metrics->begin(plan_with(0), {}, false);
  metrics->add(StepReport{});
  EXPECT_FALSE(MetricsFile::open("/no/such/folder/m"));
}

TEST(MetricsFile, ADeviceThatIsFullEndsTheMetricsNotTheProgram) {
  auto metrics = MetricsFile::open("/dev/full");
  ASSERT_TRUE(metrics);
  metrics->begin(plan_with(0), {}, false);
  metrics->add(StepReport{});
}

}  // namespace
}  // namespace penstock::cli
