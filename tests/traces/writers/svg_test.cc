#include "traces/writers/svg.h"

#include <gtest/gtest.h>

#include "tests/traces/xml_check.h"

namespace penstock {
namespace {

TEST(Svg, TextIsEscaped) {
  EXPECT_EQ(xml_escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(xml_escaped(std::string("\x01", 1)), "\xEF\xBF\xBD");
  EXPECT_EQ(xml_escaped("\xC3\xA4"), "\xC3\xA4");
}

TEST(Svg, CoordinatesAreShort) {
  EXPECT_EQ(pixels(12.5), "12.5");
  EXPECT_EQ(pixels(12.345), "12.35");
  EXPECT_EQ(pixels(3), "3");
  EXPECT_EQ(pixels(-0.001), "0");
  EXPECT_EQ(pixels(-1.05), "-1.05");
}

TEST(Svg, AloneItNamesItsLanguageAndColoursAndInlineNeither) {
  Svg body;
  body.open("g");
  body.rect(0, 0, 5, 5, "f0", "a <title> & more");
  body.text(1, 2, "text", "<&>", Anchor::Middle);
  body.close("g");
  PaintsUsed used{};
  used[0] = true;
  const std::string alone = svg_document(body, 10, 10, "'t'", Standing::Alone, used, 1);
  const std::string inside = svg_document(body, 10, 10, "'t'", Standing::Inline, used, 1);
  EXPECT_EQ(test::xml_fault(alone), "");
  EXPECT_EQ(test::xml_fault(inside), "");
  EXPECT_EQ(test::occurrences(alone, "<style>"), 1u);
  EXPECT_EQ(test::occurrences(inside, "<style>"), 0u);
  EXPECT_EQ(test::occurrences(inside, "http"), 0u);
}

TEST(XmlCheck, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(test::xml_fault("<a b=\"1\"><c/>x &amp; y</a>\n"), "");
  for (const char* fault : {"<a>", "<a></b>", "<a b=1/>", "<a b=\"<\"/>", "<a>&</a>", "<a>& b;</a>", "<a/><b/>", "x", "<a b=\"1\" b=\"2\"/>", "<a>\x01</a>", "<a b></a>", "<a"}) {
    EXPECT_NE(test::xml_fault(fault), "") << fault;
  }
}

}  // namespace
}  // namespace penstock
