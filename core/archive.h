#pragma once

// Records in documents. One description of a record serves reading and writing:
//
//   template <class A>
//   void describe(A& a, Layer& x) {              // in the namespace of Layer
//     a.required("name", x.name);
//     a.required("heads", x.heads, at_least(1));
//     a.optional("inputs", x.inputs);            // absent: keeps what a new Layer has
//     if (a.ok() && x.heads > 64) a.fail("heads", "too many heads");   // reading only
//   }
//   Result<Layer> layer = read_record<Layer>(value, "model.json");
//   std::string text = to_json(plan, "penstock.plan/1");
//
// Fields: bool, integers (their range is checked), float and double (finite), std::string, enums,
// vectors, optionals (empty = null or absent), std::map by text, Id (none = null), quantities,
// records. An enum E has a function enum_names(E) whose result is a range of pairs (value, name). A
// quantity is a number in its base unit or a string with a unit ("16GiB", "5us"). A type with
// another form has, found by argument-dependent lookup and preferred,
//   bool read_value(ReadContext&, const Value&, T&);    void write_value(JsonWriter&, const T&);
//
// The first error wins. It says file, line and column, JSON pointer, what was found and what was
// expected, and for a misspelt key or name the nearest known one. Unknown keys are errors.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "core/value.h"

namespace penstock {

// What a number may be; of a vector, an optional or a map it speaks of each element.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  // low itself is out
};
constexpr Bounds at_least(double low) {
  return {.low = low};
}
constexpr Bounds above(double low) {
  return {.low = low, .above_low = true};
}
constexpr Bounds between(double low, double high) {
  return {.low = low, .high = high};
}
constexpr Bounds positive() {
  return above(0);
}

// Where reading stands: the path walked from the root, and the first error.
class ReadContext {
 public:
  explicit ReadContext(std::string file_name) : file_(std::move(file_name)) {}

  bool ok() const { return !error_.has_value(); }
  // Keeps the first failure, with the place of `at` and the path to here. Both return false, for
  // `return c.fail(...)`.
  bool fail(const Value& at, std::string message, std::string hint = {});
  bool wrong_type(const Value& at, std::string_view expected);  // "an integer"
  // Takes over an error made elsewhere (parse_time, a text form), putting it in its place.
  bool fail(const Value& at, Error error);
  Error take_error();
  // The "schema" of a document; from here on that key is known at the root.
  bool check_schema(const Value& document, std::string_view schema, bool needed);

  // One step down, for as long as it lives. `key` must outlive it.
  class Step {
   public:
    Step(ReadContext& context, std::string_view key) : context_(context) {
      context.path_.push_back({key, 0});
    }
    Step(ReadContext& context, std::size_t index) : context_(context) {
      context.path_.push_back({{}, index + 1});
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { context_.path_.pop_back(); }

   private:
    ReadContext& context_;
  };

 private:
  friend class RecordReader;

  struct PathStep {
    std::string_view key;
    std::size_t index;  // from 1; 0: a key
  };

  Where where(const Value& at) const;
  std::string field_name() const;  // "dimensions[1]"
  friend bool check_bounds(ReadContext&, const Value&, double, const Bounds&);

  std::string file_;
  std::vector<PathStep> path_;
  std::optional<Error> error_;
  // Of the records being read, innermost last: the keys they have asked for, and which members were
  // among them.
  std::vector<std::string_view> known_;
  std::vector<char> used_;
  bool schema_at_root_ = false;
};

// The `a` of describe when reading.
class RecordReader {
 public:
  static constexpr bool kReading = true;

  RecordReader(ReadContext& context, const Value& value);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  bool ok() const { return context_.ok() && missing_.empty() && value_.is_object(); }
  template <class T>
  void required(std::string_view key, T& x, const Bounds& bounds = {});
  template <class T>
  void optional(std::string_view key, T& x, const Bounds& bounds = {});
  void fail(std::string_view key, std::string message,
            std::string hint = {});  // key "": the record itself
  bool has(std::string_view key) const { return value_.is_object() && value_.find(key) != nullptr; }
  bool finish();  // reports a missing key, then unknown ones

 private:
  const Value* take(std::string_view key, bool needed);
  void report_missing();
  std::vector<std::string_view> unknown() const;

  ReadContext& context_;
  const Value& value_;
  std::size_t known_begin_;
  std::size_t used_begin_;
  std::size_t next_ = 0;  // the member after the last one asked for: files are mostly in the order
                          // of the description
  std::string_view missing_;
};

// The `a` of describe when writing.
class RecordWriter {
 public:
  static constexpr bool kReading = false;

  explicit RecordWriter(JsonWriter& writer) : writer_(writer) {}

  bool ok() const { return true; }
  template <class T>
  void required(std::string_view key, const T& x, const Bounds& = {});
  template <class T>
  void optional(std::string_view key, const T& x, const Bounds& = {});
  void fail(std::string_view, std::string_view, std::string_view = {}) {}
  bool has(std::string_view) const { return true; }

 private:
  JsonWriter& writer_;
};

template <class T>
Result<T> read_record(const Value& value, std::string file_name);
template <class T>
void write_record(JsonWriter& writer, const T& x);

// A document of its own: a record whose first member is "schema": "penstock.plan/1". Another schema
// or version is an error that names both; so is none, unless schema_needed is false (files that
// people write by hand).
template <class T>
Result<T> from_document(const Value& document, std::string file_name, std::string_view schema,
                        bool schema_needed = true);
template <class T>
std::string to_json(const T& x, std::string_view schema);

template <class E>
std::string_view enum_text(E x);
// In error, `what` says what the names are of: "schedule".
template <class E>
Result<E> parse_enum(std::string_view text, std::string_view what);

}  // namespace penstock

#include "core/archive_fields.h"  // IWYU pragma: export
