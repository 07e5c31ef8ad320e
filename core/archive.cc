#include "core/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace penstock {
namespace {

constexpr std::string_view kSchemaKey = "schema";

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

std::string number_text(double x) {
  if (x == std::round(x) && std::abs(x) < 1e15)
    return fmt::format("{}", static_cast<std::int64_t>(x));
  return fmt::format("{}", x);
}

// In a string a number must name its unit: "5" and 5 would otherwise mean seconds and nanoseconds.
bool lacks_unit(std::string_view text) {
  return !text.empty() && ((text.back() >= '0' && text.back() <= '9') || text.back() == '.');
}

template <class T, class Parse>
bool read_with_unit(ReadContext& context, const Value& value, std::string_view example, Parse parse,
                    T& x) {
  if (lacks_unit(value.string()))
    return context.fail(value, fmt::format("{} lacks its unit", quoted(value.string())),
                        fmt::format("write it like {}", example));
  auto parsed = parse(value.string());
  if (!parsed) return context.fail(value, std::move(parsed.error()));
  x = *parsed;
  return true;
}

// A count of base units, as an integer or a real without a fraction.
bool read_count(ReadContext& context, const Value& value, std::string_view expected,
                std::int64_t& x) {
  if (value.is_real()) {
    const double real = value.real();
    if (real != std::round(real) || std::abs(real) >= 9.2e18)
      return context.wrong_type(value, expected);
    x = static_cast<std::int64_t>(real);
    return true;
  }
  if (!value.is_integer()) return context.wrong_type(value, expected);
  x = value.integer();
  return true;
}

bool read_rate(ReadContext& context, const Value& value, std::string_view expected, double& x) {
  if (!value.is_number()) return context.wrong_type(value, expected);
  return read_real(context, value, std::numeric_limits<double>::max(), x);
}

}  // namespace

bool ReadContext::fail(const Value& at, std::string message, std::string hint) {
  return fail(
      at,
      Error{.code = ErrorCode::BadInput, .message = std::move(message), .hint = std::move(hint)});
}

bool ReadContext::wrong_type(const Value& at, std::string_view expected) {
  return fail(at, fmt::format("expected {}, found {}", expected, describe_value(at)));
}

bool ReadContext::fail(const Value& at, Error error) {
  if (!ok()) return false;
  error.code = ErrorCode::BadInput;
  error.where = where(at);
  error_ = std::move(error);
  return false;
}

Error ReadContext::take_error() {
  PENSTOCK_CHECK(error_.has_value(), "there is no error to take");
  return std::move(*error_);
}

Where ReadContext::where(const Value& at) const {
  Where out = {
      .file = file_, .line = static_cast<int>(at.line()), .column = static_cast<int>(at.column())};
  for (const PathStep& step : path_) {
    out.pointer += '/';
    if (step.index > 0) out.pointer += fmt::format("{}", step.index - 1);
    for (const char c : step.key) {
      if (c == '~')
        out.pointer += "~0";
      else if (c == '/')
        out.pointer += "~1";
      else
        out.pointer += c;
    }
  }
  return out;
}

std::string ReadContext::field_name() const {
  auto step = path_.end();
  while (step != path_.begin() && (step - 1)->index > 0) --step;
  std::string out =
      step == path_.begin() ? std::string("the element") : std::string((step - 1)->key);
  for (; step != path_.end(); ++step) out += fmt::format("[{}]", step->index - 1);
  return out;
}

bool ReadContext::check_schema(const Value& document, std::string_view schema, bool needed) {
  if (!document.is_object()) return wrong_type(document, "an object");
  const Value* found = document.find(kSchemaKey);
  if (found == nullptr) {
    if (!needed) return true;
    return fail(document, fmt::format("missing key \"schema\", expected \"{}\"", schema),
                "is this the right kind of file?");
  }
  schema_at_root_ = true;
  const Step step(*this, kSchemaKey);
  if (!found->is_string()) return wrong_type(*found, fmt::format("\"{}\"", schema));
  const std::string_view have = found->string();
  if (have == schema) return true;
  const auto kind = [](std::string_view text) { return text.substr(0, text.rfind('/')); };
  return fail(*found, fmt::format("expected schema \"{}\", found {}", schema, quoted(have)),
              kind(have) == kind(schema) ? "it was written by another version of penstock"
                                         : "is this the right kind of file?");
}

RecordReader::RecordReader(ReadContext& context, const Value& value)
    : context_(context),
      value_(value),
      known_begin_(context.known_.size()),
      used_begin_(context.used_.size()) {
  if (!value.is_object()) {
    context.wrong_type(value, "an object");
    return;
  }
  context.used_.resize(used_begin_ + value.object().size(), 0);
  if (context.schema_at_root_ && context.path_.empty()) take(kSchemaKey, false);
}

RecordReader::~RecordReader() {
  context_.known_.resize(known_begin_);
  context_.used_.resize(used_begin_);
}

// Null pointer where the member is absent or something has failed already. After a missing key the
// keys are still collected, so that the report knows which members are strangers.
const Value* RecordReader::take(std::string_view key, bool needed) {
  if (!context_.ok()) return nullptr;
  context_.known_.push_back(key);
  const Value::Object& members = value_.object();
  for (std::size_t tried = 0; tried < members.size(); ++tried, ++next_) {
    if (next_ >= members.size()) next_ = 0;
    if (members[next_].first != key) continue;
    const std::size_t found = next_++;
    context_.used_[used_begin_ + found] = 1;
    return missing_.empty() ? &members[found].second : nullptr;
  }
  if (needed && missing_.empty()) missing_ = key;
  return nullptr;
}

void RecordReader::fail(std::string_view key, std::string message, std::string hint) {
  if (!ok()) return;
  const Value* member = key.empty() ? nullptr : value_.find(key);
  if (key.empty()) {
    context_.fail(value_, std::move(message), std::move(hint));
    return;
  }
  const ReadContext::Step step(context_, key);
  context_.fail(member != nullptr ? *member : value_, std::move(message), std::move(hint));
}

std::vector<std::string_view> RecordReader::unknown() const {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < value_.object().size(); ++i)
    if (context_.used_[used_begin_ + i] == 0) out.push_back(value_.object()[i].first);
  return out;
}

void RecordReader::report_missing() {
  const std::vector<std::string_view> strangers = unknown();
  std::string_view meant = nearest(missing_, strangers);
  std::string hint =
      meant.empty() ? std::string() : fmt::format("is {} a misspelling of it?", quoted(meant));
  context_.fail(value_, fmt::format("missing key \"{}\"", missing_), std::move(hint));
}

bool RecordReader::finish() {
  if (!context_.ok()) return false;
  if (!missing_.empty()) {
    report_missing();
    return false;
  }
  const auto used = context_.used_.begin() + static_cast<std::ptrdiff_t>(used_begin_);
  const auto first = std::find(used, context_.used_.end(), 0);
  if (first == context_.used_.end()) return true;
  const auto& [key, member] = value_.object()[static_cast<std::size_t>(first - used)];
  const std::vector<std::string_view> known(
      context_.known_.begin() + static_cast<std::ptrdiff_t>(known_begin_), context_.known_.end());
  const std::string_view meant = nearest(key, known);
  const ReadContext::Step step(context_, key);
  return context_.fail(member, fmt::format("unknown key {}", quoted(key)),
                       meant.empty() ? fmt::format("known keys: {}", joined(known))
                                     : fmt::format("did you mean \"{}\"?", meant));
}

bool read_boolean(ReadContext& context, const Value& value, bool& x) {
  if (!value.is_boolean()) return context.wrong_type(value, "true or false");
  x = value.boolean();
  return true;
}

bool read_integer(ReadContext& context, const Value& value, std::int64_t low, std::int64_t high,
                  std::int64_t& x) {
  if (!value.is_integer()) return context.wrong_type(value, "an integer");
  x = value.integer();
  if (x >= low && x <= high) return true;
  return context.fail(value,
                      fmt::format("expected an integer from {} to {}, found {}", low, high, x));
}

// Above 2^63-1, where JSON integers stop here, the digits stand in a string.
bool read_unsigned(ReadContext& context, const Value& value, std::uint64_t& x) {
  constexpr std::string_view kExpected = "an integer from 0 to 18446744073709551615";
  if (value.is_integer() && value.integer() >= 0) {
    x = static_cast<std::uint64_t>(value.integer());
    return true;
  }
  if (!value.is_string()) return context.wrong_type(value, kExpected);
  const std::string& digits = value.string();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
  if (error != std::errc() || end != digits.data() + digits.size())
    return context.wrong_type(value, kExpected);
  return true;
}

void write_unsigned(JsonWriter& writer, std::uint64_t x) {
  if (x <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    writer.value(x);
  else
    writer.value(fmt::format("{}", x));
}

bool read_real(ReadContext& context, const Value& value, double high, double& x) {
  if (!value.is_number()) return context.wrong_type(value, "a number");
  x = value.real() + 0.0;  // -0.0 is read as 0: equal numbers have equal text
  if (!std::isfinite(x)) return context.wrong_type(value, "a finite number");
  if (std::abs(x) > high)
    return context.fail(value, fmt::format("{} does not fit in a float", number_text(x)));
  return true;
}

bool read_text(ReadContext& context, const Value& value, std::string& x) {
  if (!value.is_string()) return context.wrong_type(value, "a string");
  x = value.string();
  return true;
}

bool read_id(ReadContext& context, const Value& value, std::int32_t& x) {
  std::int64_t wide = Id<void>::kNone;
  if (!value.is_null()) {
    if (!value.is_integer())
      return context.wrong_type(value, "an index (an integer from 0) or null");
    if (!read_integer(context, value, 0, std::numeric_limits<std::int32_t>::max(), wide))
      return false;
  }
  x = static_cast<std::int32_t>(wide);
  return true;
}

bool read_quantity(ReadContext& context, const Value& value, Nanoseconds& x) {
  if (value.is_string()) return read_with_unit(context, value, "\"5us\"", parse_time, x);
  return read_count(context, value, "a time: whole nanoseconds, or a string like \"5us\"", x.value);
}

bool read_quantity(ReadContext& context, const Value& value, Bytes& x) {
  if (value.is_string()) return read_with_unit(context, value, "\"16GiB\"", parse_bytes, x);
  return read_count(context, value, "whole bytes, or a string like \"16GiB\"", x.value);
}

bool read_quantity(ReadContext& context, const Value& value, Flops& x) {
  return read_rate(context, value, "a number of floating-point operations", x.value);
}

bool read_quantity(ReadContext& context, const Value& value, BytesPerSecond& x) {
  if (value.is_string()) return read_with_unit(context, value, "\"25GB/s\"", parse_bandwidth, x);
  return read_rate(context, value, "a number of bytes per second, or a string like \"25GB/s\"",
                   x.value);
}

bool read_quantity(ReadContext& context, const Value& value, FlopsPerSecond& x) {
  if (value.is_string())
    return read_with_unit(context, value, "\"312TFLOP/s\"", parse_flop_rate, x);
  return read_rate(context, value, "a number of FLOP/s, or a string like \"312TFLOP/s\"", x.value);
}

bool check_bounds(ReadContext& context, const Value& value, double x, const Bounds& bounds) {
  if (x >= bounds.low && x <= bounds.high && !(bounds.above_low && x == bounds.low)) return true;
  std::string expected =
      bounds.high == std::numeric_limits<double>::infinity() ? ""
      : std::isfinite(bounds.low)
          ? fmt::format("from {} to {}", number_text(bounds.low), number_text(bounds.high))
          : fmt::format("at most {}", number_text(bounds.high));
  if (expected.empty())
    expected =
        fmt::format("{} {}", bounds.above_low ? "above" : "at least", number_text(bounds.low));
  return context.fail(
      value, fmt::format("{} is {}, expected {}", context.field_name(), number_text(x), expected));
}

bool check_kind(ReadContext& context, const Value& value, Value::Kind kind,
                std::string_view expected) {
  return value.kind() == kind || context.wrong_type(value, expected);
}

Error unknown_name(std::string_view text, std::string_view what,
                   const std::vector<std::string_view>& names) {
  const std::string_view meant = nearest(text, names);
  std::string all = fmt::format("one of {}", joined(names));
  return {
      .code = ErrorCode::BadInput,
      .message = fmt::format("unknown {} {}", what, quoted(text)),
      .hint = meant.empty() ? std::move(all) : fmt::format("did you mean \"{}\"? {}", meant, all)};
}

}  // namespace penstock
