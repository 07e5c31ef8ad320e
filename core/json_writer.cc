#include "core/json.h"

#include <algorithm>
#include <charconv>

namespace penstock {
namespace {

constexpr std::size_t kLineLength = 120;

}  // namespace

void JsonWriter::separate() {
  Level& level = levels_.back();
  if (level.count++ > 0) out_ += ',';
  if (level.line) {
    if (level.count > 1) out_ += ' ';
  } else {
    out_ += '\n';
    out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
  }
}

JsonWriter& JsonWriter::key(std::string_view name) {
  PENSTOCK_CHECK(!levels_.empty() && levels_.back().object && !after_key_,
                 "a key has its place in an object only");
  separate();
  append_quoted(out_, name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::before_value() {
  if (levels_.empty()) {
    PENSTOCK_CHECK(!done_, "a document has one value");
    done_ = true;
  } else if (levels_.back().object) {
    PENSTOCK_CHECK(after_key_, "a value in an object needs its key first");
    after_key_ = false;
  } else {
    separate();
  }
}

JsonWriter& JsonWriter::begin(bool object, Layout layout) {
  before_value();
  bool line = layout == Layout::Line || indent_ == 0;
  if (!levels_.empty()) {
    Level& parent = levels_.back();
    parent.scalars = false;
    parent.objects |= object;
    line |= parent.line;
  }
  levels_.push_back({.object = object, .line = line, .start = out_.size()});
  out_ += object ? '{' : '[';
  return *this;
}

JsonWriter& JsonWriter::end(bool object) {
  PENSTOCK_CHECK(!levels_.empty() && levels_.back().object == object && !after_key_,
                 "an end that does not match");
  const Level level = levels_.back();
  levels_.pop_back();
  bool tall = !level.line && level.count > 0;
  if (tall) {
    out_ += '\n';
    out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
  }
  out_ += object ? '}' : ']';
  const bool table = !object && level.objects;  // one row a line
  if (tall && !levels_.empty() && !level.tall && !table) {
    const bool plain_array = !object && level.scalars;
    if (plain_array || fits(level.start)) {
      fold(level.start);
      tall = false;
    }
  }
  if (!levels_.empty()) levels_.back().tall |= tall;
  return *this;
}

// Line breaks and the indentation after them are all that folding takes out: text itself holds no
// raw line break.
bool JsonWriter::fits(std::size_t start) const {
  std::size_t length = 0;
  for (std::size_t i = start; i < out_.size(); ++length) {
    if (out_[i] == '\n') {
      ++i;
      while (i < out_.size() && out_[i] == ' ') ++i;
    } else {
      ++i;
    }
    if (length > kLineLength) return false;
  }
  return true;
}

void JsonWriter::fold(std::size_t start) {
  std::size_t to = start;
  for (std::size_t i = start; i < out_.size();) {
    if (out_[i] != '\n') {
      out_[to++] = out_[i++];
      continue;
    }
    ++i;
    while (i < out_.size() && out_[i] == ' ') ++i;
    if (out_[to - 1] == ',') out_[to++] = ' ';
  }
  out_.resize(to);
}

JsonWriter& JsonWriter::value(std::nullptr_t) {
  before_value();
  out_ += "null";
  return *this;
}

JsonWriter& JsonWriter::boolean(bool x) {
  before_value();
  out_ += x ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t x) {
  before_value();
  char buffer[24];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), x).ptr);
  return *this;
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t x) {
  before_value();
  char buffer[24];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), x).ptr);
  return *this;
}

JsonWriter& JsonWriter::value(double x) {
  before_value();
  append_real(out_, x);
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view x) {
  before_value();
  append_quoted(out_, x);
  return *this;
}

JsonWriter& JsonWriter::value(const Value& x) {
  switch (x.kind()) {
    case Value::Kind::Null:
      return value(nullptr);
    case Value::Kind::Boolean:
      return boolean(x.boolean());
    case Value::Kind::Integer:
      return integer(x.integer());
    case Value::Kind::Real:
      return value(x.real());
    case Value::Kind::String:
      return value(std::string_view(x.string()));
    case Value::Kind::Array:
      begin_array();
      for (const Value& element : x.array()) value(element);
      return end_array();
    case Value::Kind::Object:
      begin_object();
      for (const auto& [name, element] : x.object()) key(name).value(element);
      return end_object();
  }
  return *this;
}

std::string JsonWriter::take() {
  PENSTOCK_CHECK(levels_.empty() && !out_.empty(), "the document is not finished");
  if (indent_ > 0) out_ += '\n';
  done_ = false;
  return std::exchange(out_, {});
}

std::string to_json(const Value& value, int indent) {
  JsonWriter writer(indent);
  writer.value(value);
  return writer.take();
}

}  // namespace penstock
