#include "exec/checkpoint_bytes.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/files.h"

namespace penstock {
namespace {

std::uint64_t sum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

TEST(CheckpointBytes, TheChecksumIsTheSameHoweverBytesAreHandedIn) {
  std::string text;
  for (int i = 0; i < 75; ++i) text += static_cast<char>(i * 37);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    for (std::size_t second = cut; second <= text.size(); second += 7) {
      Checksum sum;
      sum.add(std::string_view(text).substr(0, cut));
      sum.add(std::string_view(text).substr(cut, second - cut));
      sum.add(std::string_view(text).substr(second));
      ASSERT_EQ(sum.value(), sum_of(text));
    }
  }
}

TEST(CheckpointBytes, LengthsOfZerosDiffer) {
  std::set<std::uint64_t> sums;
  for (std::size_t n = 0; n < 40; ++n) sums.insert(sum_of(std::string(n, '\0')));
  EXPECT_EQ(sums.size(), 40u);
}

TEST(CheckpointBytes, NumbersAreLittleEndian) {
  std::string out;
  append_u64(out, 0x0102030405060708u);
  EXPECT_EQ(out, std::string("\x08\x07\x06\x05\x04\x03\x02\x01"));
  EXPECT_EQ(read_u64(out.data()), 0x0102030405060708u);
  const float values[] = {1.0f, -2.5f};
  out.clear();
  append_floats(out, values, 2);
  EXPECT_EQ(out.substr(0, 4), std::string("\x00\x00\x80\x3f", 4));
  float back[2];
  read_floats(out.data(), back, 2);
  EXPECT_EQ(back[1], -2.5f);
}

Result<std::vector<SectionView>> verify(const std::string& path, std::uint64_t sections) {
  const auto file = CheckpointReader::open(path);
  EXPECT_TRUE(file);
  return file->verify(sections, [](std::uint64_t section) { return "section " + std::to_string(section); });
}

TEST(CheckpointBytes, SectionsComeBackAndAnUnfinishedFileLeavesNothing) {
  const test::TempDir folder;
  const std::string path = (folder / "x").string();
  {
    auto file = CheckpointFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->section("given up"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  auto file = CheckpointFile::create(path);
  ASSERT_TRUE(file && file->section("one") && file->section("") && file->finish(""));
  const std::string bytes = test::read_file(path);
  const auto sections = verify(path, 2);
  ASSERT_TRUE(sections) << sections.error().text();
  EXPECT_EQ(bytes.substr((*sections)[0].offset, (*sections)[0].bytes), "one");
  EXPECT_EQ((*sections)[1].bytes, 0u);
  EXPECT_FALSE(verify(path, 1));
  EXPECT_FALSE(verify(path, 3));
}

TEST(CheckpointBytes, TheFileReplacedIsKeptUnderItsOtherName) {
  const test::TempDir folder;
  const std::string path = (folder / "x").string(), kept = (folder / "y").string();
  for (const char* content : {"first", "second", "third"}) {
    auto file = CheckpointFile::create(path);
    ASSERT_TRUE(file && file->section(content) && file->finish(kept));
  }
  EXPECT_NE(test::read_file(path).find("third"), std::string::npos);
  EXPECT_NE(test::read_file(kept).find("second"), std::string::npos);
}

// The middle section is longer than the pieces in which files are read.
TEST(CheckpointBytes, SectionsOfAnyLengthAreVerifiedAndRead) {
  const test::TempDir folder;
  const std::string path = (folder / "x").string();
  std::string content;
  for (unsigned i = 0; i < 2'500'003; ++i) content += static_cast<char>(i * 7919 >> 5);
  auto file = CheckpointFile::create(path);
  ASSERT_TRUE(file && file->section("one") && file->section(content) && file->section("three") && file->finish(""));
  const auto sections = verify(path, 3);
  ASSERT_TRUE(sections) << sections.error().text();
  std::string back(content.size(), '\0');
  const auto reader = CheckpointReader::open(path);
  ASSERT_TRUE(reader && reader->read((*sections)[1].offset, back.data(), back.size()));
  EXPECT_EQ(back, content);
  EXPECT_FALSE(reader->read(reader->bytes() - 1, back.data(), 2));
  std::string bytes = test::read_file(path);
  bytes[2'000'000] = static_cast<char>(bytes[2'000'000] ^ 1);
  test::write_file(path, bytes);
  EXPECT_EQ(verify(path, 3).error().message, "the checkpoint is damaged: section 1 has another checksum, at byte 35");
}

TEST(CheckpointBytes, WhatIsNoRegularFileIsNotRead) {
  for (const char* path : {"/dev/zero", "/tmp", "/no/such/file"}) {
    const auto file = CheckpointReader::open(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, ErrorCode::BadInput);
  }
}

TEST(CheckpointBytes, AFolderThatIsNotThereIsAnError) {
  const auto file = CheckpointFile::create("/no/such/folder/x");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().where.file, "/no/such/folder/x");
}

}  // namespace
}  // namespace penstock
