#include "exec/metrics.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "core/json.h"
#include "tests/exec/sample_plan.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

Plan plan_with(double clip) {
  Optimizer optimizer;
  optimizer.clip = clip;
  return test::sample_plan("mlp:layers=2,width=16,batch=6", "gpipe", 1, 2, optimizer);
}

const StepReport kStep{.step = 4, .loss = 0.5, .learning_rate = 0.25, .gradient_norm = 2, .took = Nanoseconds(3'000'000'000)};

TEST(MetricsFile, EachLineIsAWholeDocumentThatIsThereAtOnce) {
  const test::TempDir folder;
  const std::string path = (folder / "m").string();
  test::write_file(path, "what was there before, longer than the first line that takes its place: " + std::string(500, 'x'));
  auto metrics = MetricsFile::open(path, plan_with(1), {.steps = 5, .seed = 3}, true);
  ASSERT_TRUE(metrics);
  metrics->add(kStep);
  metrics->add(EvaluationReport{.step = 5, .loss = 0.75, .accuracy = 0.5});
  // Read while the file is still open.
  const std::string text = test::read_file(path);
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "{\"step\": 4, \"loss\": 0.5, \"learning_rate\": 0.25, \"gradient_norm\": 2.0, \"step_time_s\": 3.0, "
            "\"samples_per_s\": 2.0}\n{\"steps\": 5, \"evaluation_loss\": 0.75, \"evaluation_accuracy\": 0.5}\n");
  const auto header = parse_json(text.substr(0, text.find('\n')), "m");
  ASSERT_TRUE(header);
  for (const char* key : {"schema", "workload", "plan_digest", "global_batch", "steps", "seed", "reference"}) {
    EXPECT_NE(header->find(key), nullptr) << key;
  }
  EXPECT_FALSE(metrics->failure());
}

TEST(MetricsFile, WithoutClippingThereIsNoNorm) {
  const test::TempDir folder;
  const std::string path = (folder / "m").string();
  auto metrics = MetricsFile::open(path, plan_with(0), {}, false);
  ASSERT_TRUE(metrics);
  metrics->add(kStep);
  EXPECT_EQ(test::read_file(path).find("gradient_norm"), std::string::npos);
}

TEST(MetricsFile, NothingIsWrittenIfNothingIsAskedFor) {
  auto metrics = MetricsFile::open("", plan_with(0), {}, false);
  ASSERT_TRUE(metrics);
  metrics->add(kStep);
  EXPECT_FALSE(metrics->failure());
}

TEST(MetricsFile, OneThatCannotBeMadeIsNoEndOfMetrics) {
  const auto metrics = MetricsFile::open("/no/such/folder/m", plan_with(0), {}, false);
  ASSERT_FALSE(metrics);
  EXPECT_EQ(metrics.error().code, ErrorCode::Usage);
  EXPECT_EQ(metrics.error().text(),
            "/no/such/folder/m: cannot write: No such file or directory (hint: its folder must exist)");
}

TEST(MetricsFile, ARunThatNeverStartsCostsNoFileAndMakesNone) {
  const test::TempDir folder;
  const std::string old = (folder / "old").string(), fresh = (folder / "new").string();
  test::write_file(old, "old");
  for (const std::string& path : {old, fresh}) ASSERT_TRUE(MetricsFile::open(path, plan_with(0), {}, false));
  EXPECT_EQ(test::read_file(old), "old");
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST(MetricsFile, ADeviceThatIsFullEndsTheMetricsAndIsToldOf) {
  auto metrics = MetricsFile::open("/dev/full", plan_with(0), {}, false);
  ASSERT_TRUE(metrics);
  metrics->add(kStep);
  ASSERT_TRUE(metrics->failure());
  EXPECT_EQ(metrics->failure()->code, ErrorCode::Unavailable);
  metrics->add(kStep);
}

// A limit on the size of files ends a line in its middle, as a full disk does.
TEST(MetricsFile, OfALineThatFindsNoRoomNothingStays) {
  const test::TempDir folder;
  const std::string path = (folder / "m").string();
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 700, .rlim_max = 700};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto metrics = MetricsFile::open(path, plan_with(0), {}, false);
    for (int i = 0; i < 20; ++i) metrics->add(kStep);
    std::_Exit(metrics->failure() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::string text = test::read_file(path);
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LT(text.size(), 700u);
}

TEST(MetricsFile, AReaderThatIsGoneIsAReasonOfItsOwn) {
  const test::TempDir folder;
  const std::string path = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  auto metrics = MetricsFile::open(path, plan_with(0), {}, false);
  ASSERT_TRUE(metrics);
  ::close(reader);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  metrics->add(kStep);
  std::signal(SIGPIPE, before);
  ASSERT_TRUE(metrics->failure());
  EXPECT_EQ(metrics->failure()->code, ErrorCode::ReaderGone);
}

}  // namespace
}  // namespace penstock
