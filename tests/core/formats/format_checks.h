#pragma once

// What is checked of every file format alike.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace penstock::test {

// `text` with its one occurrence of `from` replaced.
std::string edited(std::string text, std::string_view from, std::string_view to);

// The fenced blocks of docs/formats/<name>.md in this language ("toml", "json").
std::vector<std::string> examples(std::string_view name, std::string_view language);

// An edit that makes a file bad, and where and how its reader says so.
struct BadFile {
  const char* name;
  const char* from;
  const char* to;
  const char* pointer;  // of the error
  const char* says;     // part of message or hint
};
inline void PrintTo(const BadFile& bad, std::ostream* out) {
  *out << bad.name;
}

template <class T>
void expect_refused(const Result<T>& result, std::string_view pointer, std::string_view says) {
  ASSERT_FALSE(result) << "was accepted";
  const Error& error = result.error();
  EXPECT_EQ(error.code, ErrorCode::BadInput) << error.text();
  EXPECT_EQ(error.where.pointer, pointer) << error.text();
  EXPECT_GT(error.where.line, 0) << error.text();
  EXPECT_GT(error.where.column, 0) << error.text();
  EXPECT_FALSE(error.where.file.empty()) << error.text();
  EXPECT_NE(error.text().find(says), std::string::npos) << error.text();
}

// Every proper beginning of a JSON file is an error with a message, and none crashes.
template <class Read>
void expect_truncations_refused(const std::string& json, Read read) {
  const std::size_t end = json.find_last_of('}');
  for (std::size_t length = 0; length <= end; ++length) {
    const auto result = read(json.substr(0, length), "cut.json");
    ASSERT_FALSE(result) << "accepted the first " << length << " bytes";
    ASSERT_EQ(result.error().code, ErrorCode::BadInput);
    ASSERT_FALSE(result.error().message.empty());
    ASSERT_EQ(result.error().where.file, "cut.json");
  }
}

// A beginning of a TOML file may be a file of its own, with fewer rows: then it must be one that
// can be written again.
template <class Read, class Write>
void expect_truncations_survived(const std::string& toml, Read read, Write write) {
  for (std::size_t length = 0; length < toml.size(); ++length) {
    const auto result = read(toml.substr(0, length), "cut.toml");
    if (!result) {
      ASSERT_FALSE(result.error().message.empty()) << length;
      continue;
    }
    const auto again = read(write(*result), "again.json");
    ASSERT_TRUE(again) << length << ": " << again.error().text();
    ASSERT_EQ(*again, *result);
  }
}

// Every byte of a file replaced by some that matter to a parser: never a crash, and what is
// accepted is valid.
template <class Read>
void expect_damage_survived(const std::string& json, Read read) {
  for (std::size_t at = 0; at < json.size(); ++at) {
    for (const char c : {'"', '{', ']', '-', '0', '9', 'e', '\\', '\0', '\xff'}) {
      std::string damaged = json;
      damaged[at] = c;
      const auto result = read(damaged, "damaged.json");
      if (!result) {
        ASSERT_FALSE(result.error().message.empty()) << at;
      }
    }
  }
}

}  // namespace penstock::test
