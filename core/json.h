#pragma once

// JSON in (RFC 8259, strictly) and out. Out is deterministic: same calls, same bytes.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/value.h"

namespace penstock {

inline constexpr int kDeepestNesting = 512;  // of the documents we read

// Refuses, each with file:line:column: what is not JSON (NaN and comments included), text after the
// document, keys twice in an object, integers beyond 64 bits, reals beyond double, nesting beyond
// kDeepestNesting, text that is not UTF-8. Every node knows its line and column (counted in
// characters). O(|text|).
Result<Value> parse_json(std::string_view text, std::string file_name);

// Writes a document front to back:
//
//   JsonWriter w;
//   w.begin_object().member("name", "a").key("rows").begin_array();
//   w.begin_object().member("rank", 0).end_object();
//   w.end_array().end_object();
//   w.take()  ->  {
//                   "name": "a",
//                   "rows": [
//                     {"rank": 0}
//                   ]
//                 }
//
// Objects and arrays go on one line where they fit (120 characters) and hold nothing of several
// lines; an array of objects is one row a line always; an array of scalars is one line always, and
// so is what was begun with Layout::Line. The outermost is never folded. Misuse (a value without
// its key, NaN, ends that do not match) fails a PENSTOCK_CHECK.
class JsonWriter {
 public:
  enum class Layout : std::uint8_t { Fit, Line };

  // indent: spaces a level; 0 writes the whole document on one line.
  explicit JsonWriter(int indent = 2) : indent_(indent) {}

  JsonWriter& begin_object(Layout layout = Layout::Fit) { return begin(true, layout); }
  JsonWriter& end_object() { return end(true); }
  JsonWriter& begin_array(Layout layout = Layout::Fit) { return begin(false, layout); }
  JsonWriter& end_array() { return end(false); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::nullptr_t);
  JsonWriter& value(double x);
  JsonWriter& value(std::string_view x);
  JsonWriter& value(const char* x) { return value(std::string_view(x)); }
  JsonWriter& value(const std::string& x) { return value(std::string_view(x)); }
  JsonWriter& value(const Value& x);
  template <std::integral T>
  JsonWriter& value(T x) {
    if constexpr (std::same_as<T, bool>)
      return boolean(x);
    else if constexpr (std::unsigned_integral<T>)
      return unsigned_integer(x);
    else
      return integer(x);
  }
  template <class T>
  JsonWriter& member(std::string_view name, const T& x) {
    key(name);
    return value(x);
  }

  // The finished document, ending in a newline (none at indent 0).
  std::string take();

 private:
  struct Level {
    bool object;
    bool line;             // written on one line from the start
    bool tall = false;     // holds something of several lines
    bool scalars = true;   // holds scalars only
    bool objects = false;  // holds an object
    std::size_t start;     // of its opening bracket in out_
    std::size_t count = 0;
  };

  JsonWriter& begin(bool object, Layout layout);
  JsonWriter& end(bool object);
  JsonWriter& boolean(bool x);
  JsonWriter& integer(std::int64_t x);
  JsonWriter& unsigned_integer(std::uint64_t x);
  void before_value();
  void separate();
  void fold(std::size_t start);
  bool fits(std::size_t start) const;

  std::string out_;
  std::vector<Level> levels_;
  int indent_;
  bool after_key_ = false;
  bool done_ = false;
};

// The whole of a document; indent as in JsonWriter.
std::string to_json(const Value& value, int indent = 2);

}  // namespace penstock
