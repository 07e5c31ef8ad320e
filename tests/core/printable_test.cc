#include "core/printable.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Printable, PlainTextStaysAsItIs) {
  EXPECT_EQ(printable("block1.mlp.add, 12 µs, 世界 🙂"), "block1.mlp.add, 12 µs, 世界 🙂");
}

TEST(Printable, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable("a\033[31mb\007\x7f\r\t"), "a\\x1b[31mb\\x07\\x7f\\r\\t");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xC2\x9B" "31m"), "\\u{9b}31m");  // the same sequence in one character
}

TEST(Printable, MarksOfDirectionAreWrittenOut) {
  EXPECT_EQ(printable("a\xE2\x80\xAE" "b"), "a\\u{202e}b");
}

TEST(Printable, LineEndsStayOnlyWhereTheyMay) {
  EXPECT_EQ(printable("a\nb"), "a\\nb");
  EXPECT_EQ(printable("a\nb\r\n", true), "a\nb\\r\n");
}

TEST(Printable, WhatIsNotUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xff" "a\xC3"), "\\xffa\\xc3");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");          // an overlong escape
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

}  // namespace
}  // namespace penstock
