#include "core/json.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace penstock {
namespace {

// Hands the text to the parser one character at a time and lets us see how far it has come: its
// events carry no places.
class Feed {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Feed(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Feed& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Feed operator++(int) {
    Feed old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const Feed& a, const Feed& b) { return a.at_ == b.at_; }
  friend bool operator!=(const Feed& a, const Feed& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** seen_;
};

// Builds the Value. A container under construction stays where it is: only the innermost one grows.
class Builder {
 public:
  Builder(std::string_view text, std::string file_name)
      : end_(text.data() + text.size()),
        at_(text.data()),
        token_end_(text.data()),
        seen_(text.data()),
        file_(std::move(file_name)) {
    if (text.starts_with("\xEF\xBB\xBF"))
      at_ = token_end_ = text.data() + 3;  // byte order mark: no character
  }

  const char** seen() { return &seen_; }
  Error take_error() { return std::move(error_); }
  Value take_root() { return std::move(root_); }

  // The events, named by the library.
  bool null() { return add(Value()); }
  bool boolean(bool x) { return add(Value(x)); }
  bool number_integer(std::int64_t x) { return add(Value(x)); }
  bool number_unsigned(std::uint64_t x) {
    if (x > static_cast<std::uint64_t>(INT64_MAX)) return too_wide(fmt::format("{}", x));
    return add(Value(x));
  }
  bool number_float(double x, const std::string& raw) {
    // An integer of too many digits arrives here as a rounded double.
    if (raw.find_first_of(".eE") == std::string::npos) return too_wide(raw);
    return add(Value(x));
  }
  bool string(std::string& x) { return add(Value(std::move(x))); }
  bool binary(std::vector<std::uint8_t>&) { return refuse("binary data is not JSON"); }
  bool start_object(std::size_t) { return open(Value::empty_object()); }
  bool start_array(std::size_t) { return open(Value::empty_array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    to_token_start();
    Level& level = open_.back();
    auto& members = level.value->object();
    bool twice = false;
    if (members.size() < kFewKeys) {
      for (const auto& member : members) twice |= member.first == name;
    } else {
      if (level.keys.empty())
        for (const auto& member : members) level.keys.insert(member.first);
      twice = !level.keys.insert(name).second;
    }
    if (twice) {
      std::string quoted;
      append_quoted(quoted, name);
      return refuse(fmt::format("key {} stands twice in one object", quoted));
    }
    members.emplace_back(std::move(name), Value());
    token_end_ = seen_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& e) {
    constexpr int kNumberOverflow = 406;
    if (e.id == kNumberOverflow) {
      to_token_start();
      return refuse(fmt::format("number {} does not fit in a double", token));
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing
    // ..."
    std::string_view what = e.what();
    if (const auto colon = what.find(": "); colon != std::string_view::npos)
      what.remove_prefix(colon + 2);
    if (const auto dash = what.find(" - ");
        what.starts_with("syntax error") && dash != std::string_view::npos)
      what.remove_prefix(dash + 3);
    const char* begin = end_ - size_left(position);
    advance(begin > at_ ? begin : at_);
    return refuse(fmt::format("not JSON: {}", what));
  }

 private:
  static constexpr std::size_t kFewKeys = 32;

  struct Level {
    Value* value;
    std::unordered_set<std::string> keys;  // filled from kFewKeys on; only asked, never walked
  };

  // Bytes from the position the parser complains about (it counts read characters) to the end.
  std::ptrdiff_t size_left(std::size_t position) const {
    const std::ptrdiff_t size = end_ - start_;
    const auto at = static_cast<std::ptrdiff_t>(position > 0 ? position - 1 : 0);
    return at >= size ? 0 : size - at;
  }

  // Tokens that make no event (commas, colons) and blanks are all that can stand between two
  // events.
  void to_token_start() {
    const char* p = token_end_;
    while (p < end_ && *p != '\0' && std::strchr(" \t\r\n,:", *p) != nullptr) ++p;
    advance(p);
  }

  void advance(const char* to) {
    for (; at_ < to; ++at_) {
      if (*at_ == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(*at_) & 0xC0) != 0x80) {
        ++column_;
      }
    }
  }

  bool refuse(std::string message) {
    error_ = {
        .code = ErrorCode::BadInput,
        .message = std::move(message),
        .where = {
            .file = file_, .line = static_cast<int>(line_), .column = static_cast<int>(column_)}};
    return false;
  }

  bool too_wide(std::string_view number) {
    to_token_start();
    return refuse(fmt::format("integer {} does not fit in 64 bits", number));
  }

  Value* place(Value value) {
    to_token_start();
    value.set_place(line_, column_);
    token_end_ = seen_;
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Value& parent = *open_.back().value;
    if (parent.is_array()) return &parent.append(std::move(value));
    return &(parent.object().back().second = std::move(value));
  }

  bool add(Value value) {
    place(std::move(value));
    return true;
  }

  bool open(Value value) {
    if (open_.size() >= kDeepestNesting) {
      to_token_start();
      return refuse(fmt::format("nested more than {} deep", kDeepestNesting));
    }
    open_.push_back({.value = place(std::move(value)), .keys = {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    token_end_ = seen_;
    return true;
  }

  const char* end_;
  const char* at_;         // line_ and column_ are of this character
  const char* token_end_;  // of the last event
  const char* seen_;  // end of what the parser has read: the token of the current event, at most
                      // one character more
  const char* start_ = seen_;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  std::string file_;
  std::vector<Level> open_;
  Value root_;
  Error error_;
};

}  // namespace

Result<Value> parse_json(std::string_view text, std::string file_name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return fail({.code = ErrorCode::BadInput,
                 .message = "not JSON: there is nothing in it",
                 .where = {.file = std::move(file_name)}});
  Builder builder(text, std::move(file_name));
  const Feed begin(text.data(), builder.seen());
  const Feed end(text.data() + text.size(), builder.seen());
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return fail(builder.take_error());
  return builder.take_root();
}

}  // namespace penstock
