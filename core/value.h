#pragma once

// A document: the tree that JSON and TOML files are read into and written from. Each node knows
// where it stood in its file, so that what is wrong with a value can be said with its place. Text
// is UTF-8. 48 bytes a node.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace penstock {

class Value {
 public:
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Real, String, Array, Object };
  using Array = std::vector<Value>;
  using Object = std::vector<std::pair<std::string, Value>>;  // in file order; keys are unique

  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  template <class T>
  requires std::is_arithmetic_v<T> Value(T x) {
    if constexpr (std::is_same_v<T, bool>) {
      data_ = x;
    } else if constexpr (std::is_floating_point_v<T>) {
      data_ = static_cast<double>(x);
    } else {
      set_integer(static_cast<std::int64_t>(x),
                  std::is_unsigned_v<T> && static_cast<std::int64_t>(x) < 0);
    }
  }
  Value(std::string x);
  Value(std::string_view x) : Value(std::string(x)) {}
  Value(const char* x) : Value(std::string(x)) {}
  Value(Array x);
  Value(Object x);
  static Value empty_array() { return Value(Array()); }
  static Value empty_object() { return Value(Object()); }
  // An array of what a range holds (numbers, text, Values).
  template <class Range>
  static Value list(const Range& range);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::Null; }
  bool is_boolean() const { return kind() == Kind::Boolean; }
  bool is_integer() const { return kind() == Kind::Integer; }
  bool is_real() const { return kind() == Kind::Real; }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_string() const { return kind() == Kind::String; }
  bool is_array() const { return kind() == Kind::Array; }
  bool is_object() const { return kind() == Kind::Object; }

  // Each PENSTOCK_CHECKs the kind.
  bool boolean() const;
  std::int64_t integer() const;
  double real() const;  // of an integer too
  const std::string& string() const;
  const Array& array() const;
  Array& array();
  const Object& object() const;
  Object& object();

  // The member of an object, or null pointer if it has none. O(members).
  const Value* find(std::string_view key) const;
  // Adds or replaces a member, or adds an element; returns it.
  Value& set(std::string_view key, Value x);
  Value& append(Value x);

  std::uint32_t line() const { return line_; }  // from 1; 0 = unknown
  std::uint32_t column() const { return column_; }
  void set_place(std::uint32_t line, std::uint32_t column) {
    line_ = line;
    column_ = column;
  }

  // Equal contents; places do not count, the order of members does, and 1 is not 1.0.
  friend bool operator==(const Value& a, const Value& b);

 private:
  void set_integer(std::int64_t x, bool too_large);  // PENSTOCK_CHECKs that it is not

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
  std::uint32_t line_ = 0;
  std::uint32_t column_ = 0;
};

template <class Range>
Value Value::list(const Range& range) {
  Array out;
  for (const auto& x : range) out.emplace_back(x);
  return Value(std::move(out));
}

// For messages: `an integer 5`, `a string "abc"`, `an array of 3`, `null`.
std::string describe_value(const Value& value);

// The shortest text that reads back as the same double, always with a point or an exponent.
// PENSTOCK_CHECKs finiteness.
void append_real(std::string& out, double x);
// In double quotes, escaped so that it is valid both in JSON and as a basic string of TOML; bytes
// that are not UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);

}  // namespace penstock
