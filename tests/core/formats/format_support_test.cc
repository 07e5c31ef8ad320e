#include "core/formats/format_support.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace penstock {
namespace {

Error placed(std::string_view pointer) {
  const auto document = parse_json("{\n  \"stages\": [\n    {\"layers\": [1]}]}", "plan.json");
  ReadContext context("plan.json");
  EXPECT_FALSE(fail_at_pointer(
      context, *document,
      Error{.message = "wrong", .where = {.pointer = std::string(pointer)}, .hint = "do right"}));
  return context.take_error();
}

TEST(FailAtPointer, FindsLineAndColumn) {
  EXPECT_EQ(placed("/stages/0/layers/0").where.text(), "plan.json:3:17#/stages/0/layers/0");
  EXPECT_EQ(placed("/stages").where.text(), "plan.json:2:13#/stages");
  EXPECT_EQ(placed("").where.text(), "plan.json:1:1");
}

TEST(FailAtPointer, NamesTheKeyThatIsNotThere) {
  EXPECT_EQ(placed("/stages/0/chunk").where.text(), "plan.json:3:5#/stages/0/chunk");
  EXPECT_EQ(placed("/edges/3").where.text(), "plan.json:1:1#/edges");
  EXPECT_EQ(placed("/stages/7/chunk").where.text(), "plan.json:2:13#/stages");
}

TEST(FailAtPointer, KeepsMessageAndHint) {
  EXPECT_EQ(placed("/stages").message, "wrong");
  EXPECT_EQ(placed("/stages").hint, "do right");
}

struct Named {
  std::string name;
};

TEST(NameTable, FindsIndicesAndSuggestsTheNearestName) {
  const std::vector<Named> items = {{"head"}, {"gelu"}};
  const NameTable table(items, "layer");
  EXPECT_EQ(table.find<LayerId>("gelu", "/a").value(), LayerId(1));
  const auto all = table.find_all<LayerId>({"gelu", "haed"}, "/inputs");
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().where.pointer, "/inputs/1");
  EXPECT_EQ(all.error().message, "there is no layer 'haed'");
  EXPECT_EQ(all.error().hint, "did you mean 'head'?");
  const std::vector<Named> none;
  EXPECT_EQ(NameTable(none, "source").find<SourceId>("x", "").error().hint,
            "the file lists no sources");
}

}  // namespace
}  // namespace penstock
