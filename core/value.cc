#include "core/value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/result.h"

namespace penstock {

static_assert(sizeof(Value) <= 48);

// Here rather than in the header: every file that holds a Value would compile them again.
Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value::Value(std::string x) : data_(std::move(x)) {}
Value::Value(Array x) : data_(std::move(x)) {}
Value::Value(Object x) : data_(std::move(x)) {}

void Value::set_integer(std::int64_t x, bool too_large) {
  PENSTOCK_CHECK(!too_large, "an unsigned number above 2^63-1 has no place in a document");
  data_ = x;
}

bool Value::boolean() const {
  PENSTOCK_CHECK(is_boolean(), describe_value(*this));
  return *std::get_if<bool>(&data_);
}

std::int64_t Value::integer() const {
  PENSTOCK_CHECK(is_integer(), describe_value(*this));
  return *std::get_if<std::int64_t>(&data_);
}

double Value::real() const {
  if (is_integer()) return static_cast<double>(integer());
  PENSTOCK_CHECK(is_real(), describe_value(*this));
  return *std::get_if<double>(&data_);
}

const std::string& Value::string() const {
  PENSTOCK_CHECK(is_string(), describe_value(*this));
  return *std::get_if<std::string>(&data_);
}

const Value::Array& Value::array() const {
  PENSTOCK_CHECK(is_array(), describe_value(*this));
  return *std::get_if<Array>(&data_);
}

Value::Array& Value::array() {
  PENSTOCK_CHECK(is_array(), describe_value(*this));
  return *std::get_if<Array>(&data_);
}

const Value::Object& Value::object() const {
  PENSTOCK_CHECK(is_object(), describe_value(*this));
  return *std::get_if<Object>(&data_);
}

Value::Object& Value::object() {
  PENSTOCK_CHECK(is_object(), describe_value(*this));
  return *std::get_if<Object>(&data_);
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : object())
    if (name == key) return &value;
  return nullptr;
}

Value& Value::set(std::string_view key, Value x) {
  for (auto& [name, value] : object())
    if (name == key) return value = std::move(x);
  return object().emplace_back(std::string(key), std::move(x)).second;
}

Value& Value::append(Value x) {
  return array().emplace_back(std::move(x));
}

bool operator==(const Value& a, const Value& b) {
  return a.data_ == b.data_;
}

std::string describe_value(const Value& value) {
  constexpr std::size_t kLongest = 40;
  switch (value.kind()) {
    case Value::Kind::Null:
      return "null";
    case Value::Kind::Boolean:
      return value.boolean() ? "true" : "false";
    case Value::Kind::Integer:
      return fmt::format("an integer {}", value.integer());
    case Value::Kind::Real: {
      std::string out = "a real ";
      const double x = value.real();
      std::isfinite(x) ? append_real(out, x) : void(out += fmt::format("{}", x));
      return out;
    }
    case Value::Kind::String: {
      std::string_view text = value.string();
      std::string out = "a string ";
      std::size_t end = std::min(text.size(), kLongest);
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
        --end;  // whole characters
      append_quoted(out, text.substr(0, end));
      if (end < text.size()) out += "...";
      return out;
    }
    case Value::Kind::Array:
      return fmt::format("an array of {}", value.array().size());
    case Value::Kind::Object:
      return fmt::format("an object of {}", value.object().size());
  }
  return "?";
}

void append_real(std::string& out, double x) {
  PENSTOCK_CHECK(std::isfinite(x), "only finite numbers can be written");
  char buffer[64];
  // Plain digits over the range that people read, an exponent outside it; both are the shortest
  // that read back equal.
  const double size = std::abs(x);
  const bool plain = x == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), x, format);
  PENSTOCK_CHECK(error == std::errc(), "a double takes at most 24 characters here");
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

namespace {

// Bytes of the well-formed UTF-8 character that starts `text`, or 0 (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const unsigned a = at(0), b = at(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return tail(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const bool overlong = a == 0xE0 && b < 0xA0, surrogate = a == 0xED && b >= 0xA0;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const bool overlong = a == 0xF0 && b < 0x90, beyond = a == 0xF4 && b >= 0x90;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const std::size_t length = utf8_length(text.substr(i));
      if (length == 0)
        out += "\xEF\xBF\xBD";
      else
        out += text.substr(i, length);
      i += length == 0 ? 1 : length;
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
        else
          out += c;
    }
    ++i;
  }
  out += '"';
}

}  // namespace penstock
