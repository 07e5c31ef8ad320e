#include "exec/data/open_images.h"

#include <gtest/gtest.h>

#include "exec/data/synthetic_images.h"
#include "tests/exec/data/small_files.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

constexpr ImageRequest kSmall{1, 2, 3, 10}, kTen{3, 32, 32, 10};

TEST(OpenImages, TheWordSyntheticIsNoFile) {
  const auto set = open_images("synthetic", kTen, 7);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->pixels, synthetic_images(kTen, 7).pixels);
}

TEST(OpenImages, AFolderIsSearchedForTrainingImages) {
  const test::TempDir mnist, cifar;
  test::write_file(mnist / "train-images-idx3-ubyte", test::idx_images(3));
  test::write_file(mnist / "train-labels-idx1-ubyte", test::idx_labels({1, 2, 3}));
  test::write_file(mnist / "t10k-images-idx3-ubyte", test::idx_images(1));
  const auto digits = open_images(mnist.path().string(), kSmall, 0);
  ASSERT_TRUE(digits) << digits.error().text();
  EXPECT_EQ(digits->count(), 3);
  test::write_file(cifar / "data_batch_2.bin", test::cifar_record({2}, 'b'));
  test::write_file(cifar / "data_batch_1.bin", test::cifar_record({1}, 'a'));
  test::write_file(cifar / "test_batch.bin", test::cifar_record({3}, 'c'));
  const auto things = open_images(cifar.path().string(), kTen, 0);
  ASSERT_TRUE(things) << things.error().text();
  EXPECT_EQ(things->labels, std::string({1, 2}));
}

TEST(OpenImages, HeldOutImagesAreThoseOfTheTestSet) {
  const test::TempDir cifar;
  test::write_file(cifar / "data_batch_1.bin", test::cifar_record({1}, 'a'));
  ImageRequest held_out = kTen;
  held_out.held_out = true;
  const auto none = open_images(cifar.path().string(), held_out, 0);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no test images"), std::string::npos);
  test::write_file(cifar / "test_batch.bin", test::cifar_record({3}, 'c'));
  const auto set = open_images(cifar.path().string(), held_out, 0);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->labels, std::string({3}));
}

TEST(OpenImages, CifarHundredIsFoundInItsFolder) {
  const test::TempDir folder;
  test::write_file(folder / "train.bin", test::cifar_record({1, 42}, 'a'));
  const auto set = open_images(folder.path().string(), {3, 32, 32, 100}, 0);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->labels, std::string({42}));
}

TEST(OpenImages, AFileIsReadByItsEnding) {
  const test::TempDir folder;
  test::write_file(folder / "data_batch_1.bin", test::cifar_record({1}, 'a'));
  test::write_file(folder / "train-images-idx3-ubyte", test::idx_images(3));
  test::write_file(folder / "train-labels-idx1-ubyte", test::idx_labels({1, 2, 3}));
  EXPECT_TRUE(open_images((folder / "data_batch_1.bin").string(), kTen, 0));
  EXPECT_TRUE(open_images((folder / "train-images-idx3-ubyte").string(), kSmall, 0));
  const auto absent = open_images((folder / "absent").string(), kSmall, 0);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::BadInput);
}

TEST(OpenImages, AFolderOfCompressedFilesSaysWhatToDo) {
  const test::TempDir folder;
  test::write_file(folder / "train-images-idx3-ubyte.gz", "\x1f\x8b");
  test::write_file(folder / "train-labels-idx1-ubyte.gz", "\x1f\x8b");
  const auto zipped = open_images(folder.path().string(), kSmall, 0);
  ASSERT_FALSE(zipped);
  EXPECT_EQ(zipped.error().where.file, folder.path().string());
  EXPECT_NE(zipped.error().message.find("train-images-idx3-ubyte.gz"), std::string::npos);
  EXPECT_EQ(zipped.error().hint, "gunzip them first");
  const test::TempDir other;
  test::write_file(other / "cifar-10-binary.tar.gz", "\x1f\x8b");
  const auto archive = open_images(other.path().string(), kTen, 0);
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().hint.find("tar -xzf cifar-10-binary.tar.gz"), 0u) << archive.error().hint;
  // What is there beside them counts.
  test::write_file(other / "data_batch_1.bin", test::cifar_record({1}, 'a'));
  EXPECT_TRUE(open_images(other.path().string(), kTen, 0));
}

TEST(OpenImages, AFolderOfNoneOrOfTwoSetsIsRefused) {
  const test::TempDir folder;
  const auto none = open_images(folder.path().string(), kTen, 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().where.file, folder.path().string());
  EXPECT_NE(none.error().message.find("no training images"), std::string::npos);
  EXPECT_NE(none.error().hint.find("data_batch_*.bin"), std::string::npos);
  test::write_file(folder / "data_batch_1.bin", test::cifar_record({1}, 'a'));
  test::write_file(folder / "train.bin", test::cifar_record({1, 2}, 'a'));
  const auto both = open_images(folder.path().string(), kTen, 0);
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("more than one set"), std::string::npos);
  EXPECT_FALSE(both.error().hint.empty());
}

}  // namespace
}  // namespace penstock
