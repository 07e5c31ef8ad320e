#include "exec/data_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/random.h"
#include "models/workloads/builders.h"
#include "tests/exec/data/small_files.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

Workload sequence_of(std::int64_t length) {
  return *build_workload("gpt:layers=1,hidden=8,heads=1,sequence=" + std::to_string(length));
}

SourceId source_of(const Workload& workload, SourceKind kind) {
  for (std::size_t s = 0; s < workload.sources.size(); ++s) {
    if (workload.sources[s].kind == kind) return SourceId(static_cast<std::int64_t>(s));
  }
  return {};
}

TEST(DataSource, TargetsAreTheTextMovedOnByOneByte) {
  const test::TempDir folder;
  test::write_file(folder / "a.txt", "the quick brown fox jumps over the lazy dog, and then again");
  const Workload workload = sequence_of(8);
  const auto data = DataSource::open((folder / "a.txt").string(), workload, 5);
  ASSERT_TRUE(data) << data.error().text();
  std::uint8_t tokens[3 * 8], targets[3 * 8];
  data->fill(source_of(workload, SourceKind::Text), 2, 1, 3, tokens);
  data->fill(source_of(workload, SourceKind::NextText), 2, 1, 3, targets);
  for (int sample = 0; sample < 3; ++sample) EXPECT_EQ(std::memcmp(tokens + sample * 8 + 1, targets + sample * 8, 7), 0);
}

TEST(DataSource, ASampleDoesNotDependOnWhoLoadsItWithWhat) {
  const test::TempDir folder;
  test::write_file(folder / "a.txt", std::string(500, 'a') + std::string(500, 'b') + std::string(500, 'c'));
  const Workload workload = sequence_of(16);
  const auto data = DataSource::open((folder / "a.txt").string(), workload, 5);
  ASSERT_TRUE(data);
  std::uint8_t all[4 * 16], one[16];
  data->fill(SourceId(0), 7, 0, 4, all);
  for (int sample = 0; sample < 4; ++sample) {
    data->fill(SourceId(0), 7, sample, 1, one);
    EXPECT_EQ(std::memcmp(all + sample * 16, one, 16), 0);
  }
}

TEST(DataSource, AFolderIsItsTextsInOrderOfTheirNames) {
  const test::TempDir folder;
  test::write_file(folder / "b.md", "second");
  test::write_file(folder / "a.txt", "first ");
  test::write_file(folder / "c.bin", "not text");
  const auto data = DataSource::open(folder.path().string(), sequence_of(4), 0);
  ASSERT_TRUE(data) << data.error().text();
  EXPECT_EQ(data->bytes(), 12);
}

TEST(DataSource, EmptyAndTooShortTextsAreRefusedWithTheFile) {
  const test::TempDir folder;
  test::write_file(folder / "empty.txt", "");
  test::write_file(folder / "short.txt", "12345678");
  const auto empty = DataSource::open((folder / "empty.txt").string(), sequence_of(8), 0);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::BadInput);
  EXPECT_EQ(empty.error().where.file, (folder / "empty.txt").string());
  const auto short_text = DataSource::open((folder / "short.txt").string(), sequence_of(8), 0);
  ASSERT_FALSE(short_text);
  EXPECT_NE(short_text.error().message.find("8 bytes of text, but one sample takes 9"), std::string::npos);
  EXPECT_FALSE(short_text.error().hint.empty());
}

TEST(DataSource, ExactlyOneWindowIsEnough) {
  const test::TempDir folder;
  test::write_file(folder / "a.txt", "123456789");
  const auto data = DataSource::open((folder / "a.txt").string(), sequence_of(8), 0);
  ASSERT_TRUE(data);
  std::uint8_t tokens[8];
  data->fill(SourceId(0), 0, 0, 1, tokens);
  EXPECT_EQ(std::memcmp(tokens, "12345678", 8), 0);
}

TEST(DataSource, AMissingFileIsBadInput) {
  const auto data = DataSource::open("/nowhere/at/all.txt", sequence_of(8), 0);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::BadInput);
}

TEST(DataSource, BytesBeyondTheVocabularyAreRefusedWithTheirPlace) {
  const test::TempDir folder;
  test::write_file(folder / "a.txt", "AAAAAAAAAAAAz");
  Workload workload = sequence_of(4);
  workload.networks[0].layers[0].parameters[0].dimensions[0] = 100;  // rows of the token table
  const auto data = DataSource::open((folder / "a.txt").string(), workload, 0);
  ASSERT_FALSE(data);
  EXPECT_NE(data.error().message.find("byte 12"), std::string::npos) << data.error().message;
}

// A folder of 20 images of 2x3, label i mod 10, and a workload that reads such images.
class ImageData : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::uint8_t> labels;
    for (int i = 0; i < 20; ++i) labels.push_back(static_cast<std::uint8_t>(i % 10));
    test::write_file(folder_ / "train-images-idx3-ubyte", test::idx_images(20));
    test::write_file(folder_ / "train-labels-idx1-ubyte", test::idx_labels(labels));
    workload_ = *build_workload("resnet:channels=1,stages=1");
    workload_.sources[0].sample.dimensions = {1, 2, 3};
    workload_.sources.push_back({"noisy", SourceKind::NoisyImage, {DataType::Byte, {1, 2, 3}}});
  }

  test::TempDir folder_;
  Workload workload_;
};

TEST_F(ImageData, LabelAndNoisyImageAreOfTheSampleWhoseImageIsRead) {
  const auto data = DataSource::open(folder_.path().string(), workload_, 5);
  ASSERT_TRUE(data) << data.error().text();
  std::uint8_t images[50 * 6], labels[50], noisy[50 * 6];
  data->fill(SourceId(0), 3, 0, 50, images);
  data->fill(SourceId(1), 3, 0, 50, labels);
  data->fill(SourceId(2), 3, 0, 50, noisy);
  bool seen[20] = {};
  int differ = 0;
  for (int sample = 0; sample < 50; ++sample) {
    const int image = images[sample * 6] / 10;
    seen[image] = true;
    EXPECT_EQ(images[sample * 6 + 5], 10 * image + 5);
    EXPECT_EQ(labels[sample], image % 10);
    for (int i = 0; i < 6; ++i) {
      EXPECT_LT(std::abs(noisy[sample * 6 + i] - images[sample * 6 + i]), 64);
      differ += noisy[sample * 6 + i] != images[sample * 6 + i];
    }
  }
  EXPECT_GT(std::count(seen, seen + 20, true), 15);
  EXPECT_GT(differ, 250);
}

TEST_F(ImageData, ASampleDoesNotDependOnWhoLoadsItWithWhat) {
  const auto data = DataSource::open(folder_.path().string(), workload_, 5);
  ASSERT_TRUE(data);
  for (const SourceId source : {SourceId(0), SourceId(1), SourceId(2)}) {
    const std::size_t bytes = source == SourceId(1) ? 1 : 6;
    std::uint8_t all[4 * 6], one[6];
    data->fill(source, 7, 0, 4, all);
    for (std::size_t sample = 0; sample < 4; ++sample) {
      data->fill(source, 7, static_cast<std::int64_t>(sample), 1, one);
      EXPECT_EQ(std::memcmp(all + sample * bytes, one, bytes), 0);
    }
  }
}

TEST_F(ImageData, AnotherSeedStepOrSampleIsAnotherChoice) {
  const auto data = DataSource::open(folder_.path().string(), workload_, 5);
  const auto other = DataSource::open(folder_.path().string(), workload_, 6);
  ASSERT_TRUE(data && other);
  std::uint8_t a[8 * 6], b[8 * 6];
  data->fill(SourceId(0), 0, 0, 8, a);
  other->fill(SourceId(0), 0, 0, 8, b);
  EXPECT_NE(std::memcmp(a, b, sizeof a), 0);
  data->fill(SourceId(0), 1, 0, 8, b);
  EXPECT_NE(std::memcmp(a, b, sizeof a), 0);
  data->fill(SourceId(0), 0, 8, 8, b);
  EXPECT_NE(std::memcmp(a, b, sizeof a), 0);
}

TEST_F(ImageData, LabelsAreBelowTheClassesOfTheirReader) {
  const Workload fewer = *build_workload("resnet:channels=1,stages=1,classes=9");
  for (std::size_t l = 0; l < fewer.networks[0].layers.size(); ++l)
    workload_.networks[0].layers[l].output = fewer.networks[0].layers[l].output;
  const auto data = DataSource::open(folder_.path().string(), workload_, 5);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::BadInput);
  EXPECT_NE(data.error().message.find("byte 17: label 9, but the workload has 9 classes"),
            std::string::npos)
      << data.error().text();
}

TEST_F(ImageData, NoiseSaturates) {
  const std::string image(6, '\xff');
  test::write_file(folder_ / "white", test::idx_images(1).replace(16, 6, image));
  Workload workload = workload_;
  workload.sources.erase(workload.sources.begin() + 1);  // no labels
  const auto data = DataSource::open((folder_ / "white").string(), workload, 5);
  ASSERT_TRUE(data) << data.error().text();
  std::uint8_t noisy[100 * 6];
  data->fill(SourceId(1), 0, 0, 100, noisy);
  EXPECT_GE(*std::min_element(noisy, noisy + 600), 255 - 63);
  EXPECT_GT(std::count(noisy, noisy + 600, 255), 200);  // half of the noise is upward
}

TEST_F(ImageData, TextAndImagesAtOnceAreRefused) {
  workload_.sources.push_back({"text", SourceKind::Text, {DataType::Byte, {4}}});
  const auto data = DataSource::open(folder_.path().string(), workload_, 5);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::BadInput);
  EXPECT_NE(data.error().message.find("both a text and images"), std::string::npos);
}

TEST(DataSource, TimingReadsSyntheticImages) {
  const Workload workload = *build_workload("resnet:size=8,classes=3");
  EXPECT_TRUE(reads_images(workload));
  EXPECT_FALSE(reads_images(sequence_of(4)));
  const DataSource data = DataSource::random_text(workload, 1);
  std::vector<std::uint8_t> image(3 * 8 * 8), label(64);
  data.fill(SourceId(0), 0, 0, 1, image.data());
  EXPECT_NE(std::count(image.begin(), image.end(), image[0]), static_cast<std::int64_t>(image.size()));
  data.fill(SourceId(1), 0, 0, 64, label.data());
  EXPECT_EQ(*std::max_element(label.begin(), label.end()), 2);
}

// A text's bytes are what they have always been: runs of old plans can be repeated.
TEST(DataSource, TheWindowOfASampleIsKeyedAsWritten) {
  const test::TempDir folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
  test::write_file(folder / "a.txt", text);
  const auto data = DataSource::open((folder / "a.txt").string(), sequence_of(4), 11);
  ASSERT_TRUE(data) << data.error().text();
  std::uint8_t tokens[4];
  data->fill(SourceId(0), 2, 3, 1, tokens);
  EXPECT_EQ(tokens[0], mix(combine(combine(11, 2), 3)) % 196);
}

}  // namespace
}  // namespace penstock
