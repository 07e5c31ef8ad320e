#include "exec/data/cifar.h"

#include <gtest/gtest.h>

#include "tests/exec/data/small_files.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

using test::cifar_record;

constexpr ImageRequest kTen{3, 32, 32, 10}, kHundred{3, 32, 32, 100};

class CifarFiles : public testing::Test {
 protected:
  std::string write(std::string_view name, const std::string& bytes) {
    test::write_file(folder_ / name, bytes);
    return (folder_ / name).string();
  }
  static void expect_refused(const Result<ImageSet>& set, const std::string& file,
                             const std::string& message) {
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, ErrorCode::BadInput);
    EXPECT_EQ(set.error().where.file, file);
    EXPECT_NE(set.error().message.find(message), std::string::npos) << set.error().text();
    EXPECT_FALSE(set.error().hint.empty());
  }

  test::TempDir folder_;
};

TEST_F(CifarFiles, RecordsOfAllFilesAreReadInOrder) {
  const std::string one =
      write("data_batch_1.bin", cifar_record({3}, 'a') + cifar_record({9}, 'b'));
  const std::string two = write("data_batch_2.bin", cifar_record({0}, 'c'));
  const auto set = read_cifar({one, two}, kTen);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->count(), 3);
  EXPECT_EQ(set->labels, std::string({3, 9, 0}));
  EXPECT_EQ(set->pixels, std::string(3072, 'a') + std::string(3072, 'b') + std::string(3072, 'c'));
}

TEST_F(CifarFiles, TheFineLabelOfCifar100IsUsed) {
  const std::string path =
      write("train.bin", cifar_record({19, 99}, 'a') + cifar_record({1, 0}, 'b'));
  const auto set = read_cifar({path}, kHundred);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->labels, std::string({99, 0}));
  EXPECT_EQ(set->pixels, std::string(3072, 'a') + std::string(3072, 'b'));
}

TEST_F(CifarFiles, OfOtherNamesAreToldApartByTheirSize) {
  EXPECT_TRUE(read_cifar({write("ten.bin", cifar_record({3}, 'a'))}, kTen));
  EXPECT_TRUE(read_cifar({write("hundred.bin", cifar_record({3, 4}, 'a'))}, kTen));
  const std::string path =
      write("other.bin", cifar_record({3}, 'a') + "x" + cifar_record({4}, 'b'));
  expect_refused(read_cifar({path}, kTen), path, "6147 bytes do not tell");
}

TEST_F(CifarFiles, LabelsAreNotReadWhereNoneAreWanted) {
  const auto set =
      read_cifar({write("data_batch_1.bin", cifar_record({200}, 'a'))}, {3, 32, 32, 0});
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_TRUE(set->labels.empty());
}

TEST_F(CifarFiles, CutShortIsRefusedWithTheByteAndRecord) {
  const std::string bytes = (cifar_record({3}, 'a') + cifar_record({4}, 'b')).substr(0, 4000);
  const std::string path = write("data_batch_1.bin", bytes);
  expect_refused(read_cifar({path}, kTen), path,
                 "ends at byte 4000, within record 1 of 3073 bytes");
}

TEST_F(CifarFiles, LabelsBeyondTheClassesAreRefusedWithTheirByte) {
  const std::string path =
      write("data_batch_1.bin", cifar_record({3}, 'a') + cifar_record({10}, 'b'));
  expect_refused(read_cifar({path}, kTen), path, "byte 3073: label 10");
  const std::string fine = write("train.bin", cifar_record({3, 50}, 'a'));
  expect_refused(read_cifar({fine}, kTen), fine, "byte 1: label 50");
}

TEST_F(CifarFiles, NoPieceOfAFilePassesForTheWholeNorDoesMore) {
  const std::string whole = cifar_record({3}, 'a') + cifar_record({4}, 'b');
  for (const std::size_t length : {1u, 2u, 3072u, 3074u, 4000u, 6145u, 6147u, 6148u}) {
    const std::string path = write("data_batch_1.bin", (whole + "xy").substr(0, length));
    expect_refused(read_cifar({path}, kTen), path, "ends at byte " + std::to_string(length));
  }
}

TEST_F(CifarFiles, TheFaultIsSoughtInEachFileOfTheSet) {
  const std::string good = write("data_batch_1.bin", cifar_record({3}, 'a'));
  const std::string bad = write("data_batch_2.bin", cifar_record({3}, 'a') + cifar_record({77}, 'b'));
  expect_refused(read_cifar({good, bad}, kTen), bad, "byte 3073: label 77");
}

TEST_F(CifarFiles, ACompressedFileSaysWhatToDo) {
  const std::string path = write("data_batch_1.bin", "\x1f\x8b\x08\x08 and so on");
  expect_refused(read_cifar({path}, kTen), path, "compressed");
  EXPECT_NE(read_cifar({path}, kTen).error().hint.find("gunzip"), std::string::npos);
}

TEST_F(CifarFiles, EmptyAbsentAndOfAnotherShapeAreRefused) {
  const std::string empty = write("data_batch_1.bin", "");
  expect_refused(read_cifar({empty}, kTen), empty, "the file is empty");
  EXPECT_EQ(read_cifar({(folder_ / "absent.bin").string()}, kTen).error().code,
            ErrorCode::BadInput);
  const std::string path = write("data_batch_2.bin", cifar_record({3}, 'a'));
  expect_refused(read_cifar({path}, {1, 28, 28, 10}), path,
                 "images of 3x32x32, but the workload reads 1x28x28");
}

}  // namespace
}  // namespace penstock
