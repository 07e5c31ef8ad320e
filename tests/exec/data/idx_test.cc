#include "exec/data/idx.h"

#include <gtest/gtest.h>

#include "tests/exec/data/small_files.h"
#include "tests/support/files.h"

namespace penstock {
namespace {

using test::idx_images;
using test::idx_labels;

constexpr ImageRequest kRequest{1, 2, 3, 10};

struct Pair {
  const char* name;
  std::string images, labels;
  bool in_labels;       // where the fault lies
  const char* message;  // part of it
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

const std::string kGood = idx_labels({7, 8, 9});

const Pair kFaults[] = {
    {"EmptyImages", "", kGood, false, "the file is empty"},
    {"ImagesOfAnotherMagic", "abcd" + idx_images(3), kGood, false,
     "byte 0: magic number 0x61626364, but IDX images begin with 0x00000803"},
    {"LabelsForImages", kGood, kGood, false, "magic number 0x00000801"},
    {"HeaderCutShort", idx_images(3).substr(0, 10), kGood, false,
     "ends at byte 10, within its header of 16"},
    {"ImagesCutShort", idx_images(3).substr(0, 30), kGood, false,
     "ends at byte 30, within image 2 of the 3 that byte 4 announces"},
    {"BytesLeftOver", idx_images(3) + "xy", kGood, false,
     "byte 34: 2 bytes are left over behind the last of 3 images"},
    {"NoImages", idx_images(0), idx_labels({}), false, "byte 4: the file holds no images"},
    {"HugeCount", idx_images(3).replace(4, 4, test::big_endian(0xffffffff)), kGood, false,
     "within image 3 of the 4294967295"},
    {"ImagesOfAnotherShape", idx_images(3).replace(8, 4, test::big_endian(3)), kGood, false,
     "byte 8: images of 1x3x3, but the workload reads 1x2x3"},
    {"ImagesOfNoRows", idx_images(3).replace(8, 4, test::big_endian(0)), kGood, false,
     "byte 8: images of 1x0x3 hold nothing"},
    {"EmptyLabels", idx_images(3), "", true, "the file is empty"},
    {"LabelsOfAnotherMagic", idx_images(3), idx_images(3), true,
     "magic number 0x00000803, but IDX labels begin with 0x00000801"},
    {"MagicCutShort", idx_images(3).substr(0, 3), kGood, false,
     "ends at byte 3, within its header of 16"},
    {"LabelHeaderCutShort", idx_images(3), kGood.substr(0, 6), true,
     "ends at byte 6, within its header of 8"},
    {"TooManyLabels", idx_images(3), idx_labels({7, 8, 9, 1}), true,
     "byte 4: 4 labels, but train-images-idx3-ubyte holds 3 images"},
    {"LabelsLeftOver", idx_images(3), kGood + "x", true,
     "byte 11: 1 bytes are left over behind the last of 3 labels"},
    {"CompressedLabels", idx_images(3), "\x1f\x8b\x08\x08 and so on", true,
     "magic number 0x1f8b0808, but IDX labels begin with"},
    {"AnotherCountOfLabels", idx_images(3), idx_labels({7, 8}), true,
     "byte 4: 2 labels, but train-images-idx3-ubyte holds 3 images"},
    {"LabelsCutShort", idx_images(3), kGood.substr(0, 10), true,
     "ends at byte 10, within label 2 of the 3"},
    {"LabelBeyondTheClasses", idx_images(3), idx_labels({7, 10, 9}), true,
     "byte 9: label 10, but the workload has 10 classes"},
};

class IdxFault : public testing::TestWithParam<Pair> {};

TEST_P(IdxFault, IsRefusedWithFileByteAndHint) {
  const test::TempDir folder;
  const std::string images = (folder / "train-images-idx3-ubyte").string();
  const std::string labels = (folder / "train-labels-idx1-ubyte").string();
  test::write_file(images, GetParam().images);
  test::write_file(labels, GetParam().labels);
  const auto set = read_idx(images, kRequest);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::BadInput);
  EXPECT_EQ(set.error().where.file, GetParam().in_labels ? labels : images);
  EXPECT_NE(set.error().message.find(GetParam().message), std::string::npos) << set.error().text();
  EXPECT_FALSE(set.error().hint.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, IdxFault, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Idx, ImagesAndTheLabelsBesideThemAreRead) {
  const test::TempDir folder;
  test::write_file(folder / "train-images.idx3-ubyte", idx_images(3));
  test::write_file(folder / "train-labels.idx1-ubyte", kGood);
  const auto set = read_idx((folder / "train-images.idx3-ubyte").string(), kRequest);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->count(), 3);
  EXPECT_EQ(set->labels, "\x07\x08\x09");
  EXPECT_EQ(set->pixels, idx_images(3).substr(16));
}

TEST(Idx, NoPieceOfAFilePassesForTheWhole) {
  const test::TempDir folder;
  const std::string images = (folder / "train-images-idx3-ubyte").string();
  const std::string labels = (folder / "train-labels-idx1-ubyte").string();
  test::write_file(labels, kGood);
  const auto expect_refused = [&](const std::string& file, std::size_t length) {
    const auto set = read_idx(images, kRequest);
    ASSERT_FALSE(set) << length;
    EXPECT_EQ(set.error().code, ErrorCode::BadInput) << length;
    EXPECT_EQ(set.error().where.file, file) << length;
    EXPECT_FALSE(set.error().hint.empty()) << length;
  };
  const std::string whole = idx_images(3);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    test::write_file(images, whole.substr(0, length));
    expect_refused(images, length);
  }
  test::write_file(images, whole);
  for (std::size_t length = 0; length < kGood.size(); ++length) {
    test::write_file(labels, kGood.substr(0, length));
    expect_refused(labels, length);
  }
}

TEST(Idx, LabelsAreNotLookedForWhereNoneAreRead) {
  const test::TempDir folder;
  test::write_file(folder / "pictures", idx_images(2));
  const auto set = read_idx((folder / "pictures").string(), {1, 2, 3, 0});
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_TRUE(set->labels.empty());
}

TEST(Idx, LabelsThatCannotBeFoundAreNamed) {
  const test::TempDir folder;
  test::write_file(folder / "pictures", idx_images(2));
  test::write_file(folder / "train-images-idx3-ubyte", idx_images(2));
  const auto nameless = read_idx((folder / "pictures").string(), kRequest);
  ASSERT_FALSE(nameless);
  EXPECT_NE(nameless.error().message.find("does not tell the name"), std::string::npos);
  const auto absent = read_idx((folder / "train-images-idx3-ubyte").string(), kRequest);
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("no train-labels-idx1-ubyte"), std::string::npos);
  EXPECT_EQ(absent.error().code, ErrorCode::BadInput);
}

TEST(Idx, ACompressedFileSaysWhatToDo) {
  const test::TempDir folder;
  test::write_file(folder / "train-images-idx3-ubyte.gz", "\x1f\x8b\x08\x08 and so on");
  const auto set = read_idx((folder / "train-images-idx3-ubyte.gz").string(), kRequest);
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().hint.find("gunzip"), std::string::npos);
}

TEST(Idx, LabelsStandBesideByTheStandardNames) {
  EXPECT_EQ(idx_labels_beside("/images/t10k-images-idx3-ubyte"), "/images/t10k-labels-idx1-ubyte");
  EXPECT_EQ(idx_labels_beside("train-images.idx3-ubyte"), "train-labels.idx1-ubyte");
  EXPECT_EQ(idx_labels_beside("/images/mnist"), "");
}

}  // namespace
}  // namespace penstock
