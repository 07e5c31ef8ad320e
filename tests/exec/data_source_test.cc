#include "exec/data_source.h"

#include <gtest/gtest.h>

#include <cstring>

#include "models/workloads/builders.h"
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

}  // namespace
}  // namespace penstock
