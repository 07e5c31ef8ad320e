#include "exec/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/exec/sample_plan.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

// Values that a run would keep, without the run.
class Values final : public ParameterAccess {
 public:
  explicit Values(float start) : next_(start) {}
  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override {
    std::vector<float>& kept = kept_[{parameter, state}];
    while (kept.size() < out.size()) kept.push_back(next_ += 0.5f);
    std::copy(kept.begin(), kept.end(), out.begin());
  }
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override {
    kept_[{parameter, state}].assign(values.begin(), values.end());
  }
  bool operator==(const Values& other) const { return kept_ == other.kept_; }

 private:
  mutable float next_;
  mutable std::map<std::pair<std::size_t, std::int32_t>, std::vector<float>> kept_;
};

// Where each section begins, at its length: the magic before, the checksum of the whole behind.
std::vector<std::size_t> section_starts(const std::string& bytes) {
  std::vector<std::size_t> out;
  for (std::size_t at = kCheckpointMagic.size(); at + 8 < bytes.size(); at += 16 + read_u64(bytes.data() + at)) out.push_back(at);
  return out;
}

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    plan_.workload.optimizer = default_optimizer(OptimizerKind::Adam);
    identity_ = CheckpointIdentity::of(plan_, 7);
  }
  void save(std::int64_t step, const Values& values, Replaced replaced = Replaced::Kept) {
    const auto saved = save_checkpoint(path_, identity_, step, plan_.workload, values, replaced);
    ASSERT_TRUE(saved) << saved.error().text();
  }
  Result<Checkpoint> load() const { return Checkpoint::load(path_, identity_, plan_.workload); }

  Plan plan_ = test::sample_plan("mlp:layers=2,width=2,input=2,batch=2", "gpipe", 1, 1);
  CheckpointIdentity identity_;
  test::TempDir folder_;
  const std::string path_ = (folder_ / "c.ckpt").string();
};

TEST_F(CheckpointTest, ValuesAndStatesComeBackBitForBit) {
  Values values(1);
  save(12, values);
  const auto loaded = load();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->step(), 12);
  Values back(0);
  ASSERT_TRUE(loaded->restore(back));
  EXPECT_TRUE(back == values);
}

TEST_F(CheckpointTest, EveryFlippedByteIsNoticed) {
  save(3, Values(1));
  const std::string whole = test::read_file(path_);
  ASSERT_LT(whole.size(), 20'000u);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char flip : {'\x01', '\x80'}) {
      // In its place: a file written anew each time costs a disk's patience.
      file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(whole[at] ^ flip)).flush();
      const auto loaded = load();
      file.seekp(static_cast<std::streamoff>(at)).put(whole[at]).flush();
      ASSERT_FALSE(loaded) << "byte " << at;
      ASSERT_EQ(loaded.error().code, ErrorCode::BadInput) << "byte " << at << ": " << loaded.error().text();
      ASSERT_EQ(loaded.error().where.file, path_) << "byte " << at;
      ASSERT_FALSE(loaded.error().hint.empty()) << "byte " << at;
    }
  }
}

TEST_F(CheckpointTest, EveryTruncationAndEveryAdditionIsNoticed) {
  save(3, Values(1));
  const std::string whole = test::read_file(path_);
  std::filesystem::resize_file(path_, whole.size() + 1);  // with a zero
  EXPECT_FALSE(load());
  for (std::size_t length = whole.size(); length-- > 0;) {
    std::filesystem::resize_file(path_, length);
    const auto loaded = load();
    ASSERT_FALSE(loaded) << "the first " << length << " bytes";
    ASSERT_EQ(loaded.error().code, ErrorCode::BadInput);
    ASSERT_EQ(loaded.error().where.file, path_);
    ASSERT_FALSE(loaded.error().hint.empty());
  }
}

TEST_F(CheckpointTest, TheDamagedSectionAndItsPlaceAreNamed) {
  save(3, Values(1));
  std::string bytes = test::read_file(path_);
  bytes[bytes.size() - 20] = static_cast<char>(bytes[bytes.size() - 20] ^ 1);
  test::write_file(path_, bytes);
  const auto loaded = load();
  ASSERT_FALSE(loaded);
  const std::string last = std::to_string(all_parameters(plan_.workload).size() - 1);
  EXPECT_NE(loaded.error().message.find("the section of parameter " + last + " has another checksum, at byte"), std::string::npos)
      << loaded.error().message;
}

TEST_F(CheckpointTest, OfEverySectionDamageIsNamedWithItsPlace) {
  save(3, Values(1));
  const std::string whole = test::read_file(path_);
  const std::vector<std::size_t> starts = section_starts(whole);
  ASSERT_EQ(starts.size(), 1 + all_parameters(plan_.workload).size());
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const std::string name = s == 0 ? "the header" : "the section of parameter " + std::to_string(s - 1);
    std::string bytes = whole;
    bytes[starts[s] + 8] = static_cast<char>(bytes[starts[s] + 8] ^ 2);  // first of its content
    test::write_file(path_, bytes);
    EXPECT_EQ(load().error().message, fmt::format("the checkpoint is damaged: {} has another checksum, at byte {}", name, starts[s]));
    test::write_file(path_, whole.substr(0, starts[s]));
    EXPECT_EQ(load().error().message, fmt::format("the checkpoint is damaged: it ends before {}, at byte {}", name, starts[s]));
    test::write_file(path_, whole.substr(0, starts[s] + 20));
    EXPECT_EQ(load().error().message, fmt::format("the checkpoint is damaged: {} is longer than the file, at byte {}", name, starts[s]));
  }
  test::write_file(path_, whole.substr(0, whole.size() - 1));
  EXPECT_EQ(load().error().message, fmt::format("the checkpoint is damaged: what follows the last section has another length, at byte {}",
                                                whole.size() - 8));
}

TEST_F(CheckpointTest, OfAnotherVersionOrEmptyIsSaid) {
  save(3, Values(1));
  std::string bytes = test::read_file(path_);
  bytes[kCheckpointMagic.size() - 2] = '2';
  test::write_file(path_, bytes);
  auto loaded = load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::BadInput);
  EXPECT_NE(loaded.error().message.find("of version 2"), std::string::npos) << loaded.error().text();
  EXPECT_NE(loaded.error().message.find("reads version 1"), std::string::npos) << loaded.error().text();
  EXPECT_NE(loaded.error().hint.find("release that wrote it"), std::string::npos);
  test::write_file(path_, "");
  loaded = load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the checkpoint is damaged: the file is empty, at byte 0");
}

TEST_F(CheckpointTest, WhateverTheDamageTheOneBeforeItIsUsedAndSaid) {
  save(3, Values(1));
  save(6, Values(2));
  const std::string whole = test::read_file(path_);
  std::vector<std::string> damaged = {"", whole.substr(0, 10), whole.substr(0, whole.size() / 2), whole + "x", "no checkpoint",
                                      whole.substr(0, whole.size() - 1)};
  for (const std::size_t start : section_starts(whole)) {
    for (const std::size_t at : {start, start + 8}) damaged.push_back(std::string(whole).replace(at, 1, 1, static_cast<char>(whole[at] ^ 4)));
  }
  damaged.push_back(std::string(whole).replace(kCheckpointMagic.size() - 2, 1, "2"));
  const auto expect_the_one_before = [&](const std::string& what) {
    std::string warning;
    const auto loaded = Checkpoint::load_latest(path_, identity_, plan_.workload, warning);
    ASSERT_TRUE(loaded) << what << ": " << loaded.error().text();
    EXPECT_EQ(loaded->step(), 3) << what;
    EXPECT_EQ(warning.find(path_), 0u) << warning;
    EXPECT_NE(warning.find("going on from " + previous_checkpoint(path_) + ", after 3 steps"), std::string::npos) << warning;
    Values back(0);
    ASSERT_TRUE(loaded->restore(back));
  };
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    test::write_file(path_, damaged[i]);
    expect_the_one_before("damage " + std::to_string(i));
  }
  std::filesystem::remove(path_);
  expect_the_one_before("gone");
}

TEST_F(CheckpointTest, OfAnotherPlanTheOneBeforeItIsNotTaken) {
  // A whole file that does not fit is no damage: what stands before it would be an older answer to another question.
  save(3, Values(1));
  Plan other = plan_;
  other.workload.optimizer.learning_rate *= 2;
  const CheckpointIdentity theirs = CheckpointIdentity::of(other, 7);
  ASSERT_TRUE(save_checkpoint(path_, theirs, 6, other.workload, Values(2), Replaced::Kept));
  std::string warning;
  const auto loaded = Checkpoint::load_latest(path_, identity_, plan_.workload, warning);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::Infeasible);
  EXPECT_EQ(loaded.error().where.file, path_);
  EXPECT_EQ(warning, "");
}

TEST_F(CheckpointTest, AnotherPlanOrSeedIsRefusedWithAHint) {
  save(3, Values(1));
  Plan other = plan_;
  other.workload.optimizer.learning_rate *= 2;
  auto loaded = Checkpoint::load(path_, CheckpointIdentity::of(other, 7), other.workload);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::Infeasible);
  EXPECT_NE(loaded.error().hint.find("same workload"), std::string::npos);
  loaded = Checkpoint::load(path_, CheckpointIdentity::of(plan_, 8), plan_.workload);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::Usage);
  EXPECT_EQ(loaded.error().hint, "--seed 7");
}

TEST_F(CheckpointTest, AnArithmeticOfItsOwnIsAnotherPlanButAnotherDivisionIsNot) {
  const auto identity = [](std::int32_t stages, std::int64_t microbatch) {
    return CheckpointIdentity::of(test::sample_plan("mlp:layers=4,width=8,batch=8", "gpipe", stages, microbatch), 0).plan;
  };
  EXPECT_EQ(identity(1, 2), identity(3, 2));
  EXPECT_NE(identity(1, 2), identity(1, 4));
}

TEST_F(CheckpointTest, ReplicasAndTheirSplitAreArithmeticOfTheirOwn) {
  const char* const kMlp = "mlp:layers=4,width=8,batch=8";
  const auto identity = [&](const std::vector<std::int32_t>& replicas, Split split) {
    return CheckpointIdentity::of(test::replicated_plan(kMlp, "gpipe", replicas, split, 2), 0).plan;
  };
  const std::vector<std::string> all = {CheckpointIdentity::of(test::sample_plan(kMlp, "gpipe", 2, 2), 0).plan, identity({2}, Split::Batch),
                                        identity({2}, Split::RoundRobin), identity({4}, Split::RoundRobin),
                                        identity({2, 1}, Split::Batch), identity({1, 2}, Split::Batch)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << i << " and " << j;
  }
  EXPECT_EQ(identity({2, 2}, Split::Batch), all[1]);
}

TEST_F(CheckpointTest, ADamagedFileYieldsToTheOneBeforeIt) {
  save(3, Values(1));
  save(6, Values(2));
  std::string bytes = test::read_file(path_);
  bytes[100] = static_cast<char>(bytes[100] ^ 4);
  test::write_file(path_, bytes);
  std::string warning;
  auto loaded = Checkpoint::load_latest(path_, identity_, plan_.workload, warning);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->step(), 3);
  EXPECT_NE(warning.find("damaged"), std::string::npos);
  EXPECT_NE(warning.find(".previous, after 3 steps"), std::string::npos) << warning;

  // The next save must not put the damaged file in the place of the whole one.
  save(9, Values(3), Replaced::Dropped);
  EXPECT_EQ(load()->step(), 9);
  EXPECT_EQ(Checkpoint::load(previous_checkpoint(path_), identity_, plan_.workload)->step(), 3);

  std::filesystem::remove(path_);
  loaded = Checkpoint::load_latest(path_, identity_, plan_.workload, warning);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->step(), 3);
}

TEST_F(CheckpointTest, WithNothingInItsPlaceTheOneKeptBeforeStays) {
  save(3, Values(1));
  save(6, Values(2));
  std::filesystem::remove(path_);
  save(1, Values(3));
  EXPECT_EQ(load()->step(), 1);
  EXPECT_EQ(Checkpoint::load(previous_checkpoint(path_), identity_, plan_.workload)->step(), 3);
}

TEST_F(CheckpointTest, OfALinkTheFileIsReplacedAndKept) {
  namespace fs = std::filesystem;
  fs::create_directory(folder_ / "there");
  fs::create_symlink("there/c", path_);  // leads nowhere yet
  for (const std::int64_t step : {2, 4}) save(step, Values(1));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_regular_file(folder_ / "there" / "c"));
  EXPECT_EQ(load()->step(), 4);
  EXPECT_EQ(previous_checkpoint(path_), (folder_ / "there" / "c.previous").string());
  fs::remove(folder_ / "there" / "c");
  std::string warning;
  EXPECT_EQ(Checkpoint::load_latest(path_, identity_, plan_.workload, warning)->step(), 2);
}

TEST_F(CheckpointTest, WhatIsNoRegularFileIsRefusedAndStays) {
  namespace fs = std::filesystem;
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", folder_ / "link");
  fs::create_symlink("round", folder_ / "round");
  for (const char* name : {"pipe", "link", "round", "none/c", "."}) {
    const std::string path = (folder_ / name).string();
    const auto saved = save_checkpoint(path, identity_, 1, plan_.workload, Values(1), Replaced::Kept);
    ASSERT_FALSE(saved) << name;
    EXPECT_EQ(saved.error().code, ErrorCode::Usage) << saved.error().text();
    EXPECT_EQ(checkpoint_target(path).error().text(), saved.error().text());
  }
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
  EXPECT_FALSE(checkpoint_target("/dev/null"));
}

TEST_F(CheckpointTest, IfBothAreDamagedTheErrorTellsOfBoth) {
  save(3, Values(1));
  save(6, Values(2));
  for (const std::string& path : {path_, previous_checkpoint(path_)}) test::write_file(path, test::read_file(path).substr(0, 200));
  std::string warning;
  const auto loaded = Checkpoint::load_latest(path_, identity_, plan_.workload, warning);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::BadInput);
  EXPECT_NE(loaded.error().hint.find(".previous"), std::string::npos);
}

// Values of a parameter that would take more than all documents may: made where they are read, checked where they come back.
class HugeValues final : public ParameterAccess {
 public:
  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(parameter, state, i);
  }
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) wrong_ += values[i] != value(parameter, state, i);
    bytes_ += values.size_bytes();
  }
  std::size_t wrong() const { return wrong_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static float value(std::size_t parameter, std::int32_t state, std::size_t i) {
    return static_cast<float>((i + parameter * 31 + static_cast<std::size_t>(state + 1) * 7) % 8191);
  }
  std::size_t wrong_ = 0, bytes_ = 0;
};

TEST(CheckpointSlow, OneOfMoreThanAGigabyteComesBack) {
  const test::TempDir folder;
  const std::string path = (folder / "c").string();
  Workload workload = test::sample_plan("mlp:layers=2,width=2,input=2,batch=2", "gpipe", 1, 1).workload;
  workload.optimizer = default_optimizer(OptimizerKind::Adam);
  for (Layer& layer : workload.networks[0].layers) {
    if (!layer.parameters.empty()) layer.parameters[0].dimensions = {60, 1000, 1000};
  }
  const CheckpointIdentity identity{.plan = "0123456789abcdef", .seed = 1};
  const auto saved = save_checkpoint(path, identity, 4, workload, HugeValues(), Replaced::Kept);
  ASSERT_TRUE(saved) << saved.error().text();
  ASSERT_GT(std::filesystem::file_size(path), std::uintmax_t{1} << 30);
  const auto loaded = Checkpoint::load(path, identity, workload);
  ASSERT_TRUE(loaded) << loaded.error().text();
  HugeValues back;
  ASSERT_TRUE(loaded->restore(back));
  EXPECT_EQ(back.wrong(), 0u);
  EXPECT_GT(back.bytes(), std::size_t{1} << 30);
}

TEST_F(CheckpointTest, AFileThatIsNoneIsRefused) {
  test::write_file(path_, "{\"schema\": \"penstock.plan/1\"}");
  const auto loaded = load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace penstock
