#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"

namespace penstock {
namespace {

TEST(JsonWriter, FoldsWhatFitsAndKeepsTablesOneRowALine) {
  JsonWriter w;
  w.begin_object().member("name", "a").member("on", true);
  w.key("empty").begin_array().end_array();
  w.key("losses").begin_array();
  for (int i = 0; i < 5; ++i) w.value(i * 0.5);
  w.end_array();
  w.key("point").begin_object().member("x", 1).member("y", nullptr).end_object();
  w.key("rows").begin_array();
  for (int rank = 0; rank < 2; ++rank)
    w.begin_object().member("rank", rank).member("busy_s", 0.05).end_object();
  w.end_array().end_object();
  EXPECT_EQ(w.take(), R"({
  "name": "a",
  "on": true,
  "empty": [],
  "losses": [0.0, 0.5, 1.0, 1.5, 2.0],
  "point": {"x": 1, "y": null},
  "rows": [
    {"rank": 0, "busy_s": 0.05},
    {"rank": 1, "busy_s": 0.05}
  ]
}
)");
}

TEST(JsonWriter, ScalarsStayOnOneLineHoweverMany) {
  JsonWriter w(1);
  w.begin_object().key("n").begin_array();
  for (int i = 0; i < 1000; ++i) w.value(i);
  w.end_array().end_object();
  const std::string text = w.take();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(JsonWriter, LongObjectsSpreadOverLinesUnlessToldNotTo) {
  const std::string longish(100, 'x');
  for (const auto layout : {JsonWriter::Layout::Fit, JsonWriter::Layout::Line}) {
    JsonWriter w;
    w.begin_array()
        .begin_object(layout)
        .member("a", longish)
        .member("b", longish)
        .end_object()
        .end_array();
    const std::string text = w.take();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), layout == JsonWriter::Layout::Fit ? 6 : 3)
        << text;
  }
}

TEST(JsonWriter, IndentZeroIsOneLine) {
  EXPECT_EQ(to_json(*parse_json("{\"a\":[{\"b\":1},2],\"c\":\"d\"}", "f"), 0),
            "{\"a\": [{\"b\": 1}, 2], \"c\": \"d\"}");
}

TEST(JsonWriter, MisuseAborts) {
  EXPECT_DEATH(JsonWriter().begin_object().value(1), "needs its key");
  EXPECT_DEATH(JsonWriter().begin_array().key("a"), "in an object only");
  EXPECT_DEATH(JsonWriter().begin_array().end_object(), "does not match");
  EXPECT_DEATH(JsonWriter().begin_object().key("a").end_object(), "does not match");
  EXPECT_DEATH(JsonWriter().value(1).value(2), "one value");
  EXPECT_DEATH(JsonWriter().begin_array().take(), "not finished");
  EXPECT_DEATH(JsonWriter().value(std::nan("")), "finite");
}

}  // namespace
}  // namespace penstock
