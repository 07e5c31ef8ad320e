#pragma once

// The templates of core/archive.h: which field types there are and how each is read and written.

#include <concepts>
#include <type_traits>

#include "core/archive.h"

namespace penstock {

// One a kind of scalar; each says what is wrong and returns false.
bool read_boolean(ReadContext& context, const Value& value, bool& x);
bool read_integer(ReadContext& context, const Value& value, std::int64_t low, std::int64_t high,
                  std::int64_t& x);
bool read_unsigned(ReadContext& context, const Value& value, std::uint64_t& x);
bool read_real(ReadContext& context, const Value& value, double high, double& x);
bool read_text(ReadContext& context, const Value& value, std::string& x);
bool read_id(ReadContext& context, const Value& value, std::int32_t& x);
bool read_quantity(ReadContext& context, const Value& value, Nanoseconds& x);
bool read_quantity(ReadContext& context, const Value& value, Bytes& x);
bool read_quantity(ReadContext& context, const Value& value, Flops& x);
bool read_quantity(ReadContext& context, const Value& value, BytesPerSecond& x);
bool read_quantity(ReadContext& context, const Value& value, FlopsPerSecond& x);
void write_unsigned(JsonWriter& writer, std::uint64_t x);
bool check_bounds(ReadContext& context, const Value& value, double x, const Bounds& bounds);
bool check_kind(ReadContext& context, const Value& value, Value::Kind kind,
                std::string_view expected);
Error unknown_name(std::string_view text, std::string_view what,
                   const std::vector<std::string_view>& names);

template <class T>
inline constexpr bool kIsUnsigned64 = std::is_unsigned_v<T> && sizeof(T) == 8;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsId = false;
template <class Tag>
inline constexpr bool kIsId<Id<Tag>> = true;
template <class T>
inline constexpr bool kIsQuantity = false;
template <class Tag, class R>
inline constexpr bool kIsQuantity<Quantity<Tag, R>> = true;

template <class T>
concept HasReadValue = requires(ReadContext& c, const Value& v, T& x) {
  { read_value(c, v, x) } -> std::same_as<bool>;
};
template <class T>
concept HasWriteValue = requires(JsonWriter& w, const T& x) {
  write_value(w, x);
};

template <class E>
std::string_view enum_text(E x) {
  for (const auto& [value, name] : enum_names(x))
    if (value == x) return name;
  check_failed("enum_text", "an enum value without a name");
}

template <class E>
Result<E> parse_enum(std::string_view text, std::string_view what) {
  std::vector<std::string_view> names;
  for (const auto& [value, name] : enum_names(E{})) {
    if (name == text) return value;
    names.push_back(name);
  }
  return fail(unknown_name(text, what, names));
}

template <class T>
bool read_field(ReadContext& context, const Value& value, T& x) {
  if constexpr (HasReadValue<T>) {
    return read_value(context, value, x);
  } else if constexpr (std::is_same_v<T, bool>) {
    return read_boolean(context, value, x);
  } else if constexpr (kIsUnsigned64<T>) {
    std::uint64_t wide = 0;
    if (!read_unsigned(context, value, wide)) return false;
    x = wide;
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    std::int64_t wide = 0;
    if (!read_integer(context, value, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                      static_cast<std::int64_t>(std::numeric_limits<T>::max()), wide))
      return false;
    x = static_cast<T>(wide);
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    double wide = 0;
    if (!read_real(context, value, static_cast<double>(std::numeric_limits<T>::max()), wide))
      return false;
    x = static_cast<T>(wide);
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return read_text(context, value, x);
  } else if constexpr (std::is_enum_v<T>) {
    if (!check_kind(context, value, Value::Kind::String, "a name")) return false;
    auto parsed = parse_enum<T>(value.string(), "name");
    if (!parsed) return context.fail(value, std::move(parsed.error()));
    x = *parsed;
    return true;
  } else if constexpr (kIsId<T>) {
    return read_id(context, value, x.value);
  } else if constexpr (kIsQuantity<T>) {
    return read_quantity(context, value, x);
  } else if constexpr (kIsOptional<T>) {
    if (value.is_null()) {
      x.reset();
      return true;
    }
    return read_field(context, value, x.emplace());
  } else if constexpr (kIsVector<T>) {
    if (!check_kind(context, value, Value::Kind::Array, "an array")) return false;
    x.clear();
    x.reserve(value.array().size());
    for (const Value& element : value.array()) {
      const ReadContext::Step step(context, x.size());
      typename T::value_type out{};
      if (!read_field(context, element, out)) return false;
      x.push_back(std::move(out));
    }
    return true;
  } else if constexpr (kIsMap<T>) {
    if (!check_kind(context, value, Value::Kind::Object, "an object")) return false;
    x.clear();
    for (const auto& [key, member] : value.object()) {
      const ReadContext::Step step(context, key);
      if (!read_field(context, member, x[key])) return false;
    }
    return true;
  } else {
    RecordReader reader(context, value);
    if (reader.ok()) describe(reader, x);
    return reader.finish();
  }
}

template <class T>
bool check_field(ReadContext& context, const Value& value, const T& x, const Bounds& bounds) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return check_bounds(context, value, static_cast<double>(x), bounds);
  } else if constexpr (kIsQuantity<T> || kIsId<T>) {
    return check_bounds(context, value, static_cast<double>(x.value), bounds);
  } else if constexpr (kIsOptional<T>) {
    return !x || check_field(context, value, *x, bounds);
  } else if constexpr (kIsVector<T>) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const ReadContext::Step step(context, i);
      if (!check_field(context, value.array()[i], x[i], bounds)) return false;
    }
  } else if constexpr (kIsMap<T>) {
    for (const auto& [key, element] : x) {
      const ReadContext::Step step(context, key);
      if (!check_field(context, *value.find(key), element, bounds)) return false;
    }
  }
  return true;
}

template <class T>
void RecordReader::required(std::string_view key, T& x, const Bounds& bounds) {
  const Value* member = take(key, true);
  if (member == nullptr) return;
  const ReadContext::Step step(context_, key);
  if (read_field(context_, *member, x)) check_field(context_, *member, x, bounds);
}

template <class T>
void RecordReader::optional(std::string_view key, T& x, const Bounds& bounds) {
  const Value* member = take(key, false);
  if (member == nullptr) return;
  const ReadContext::Step step(context_, key);
  if (read_field(context_, *member, x)) check_field(context_, *member, x, bounds);
}

template <class T>
void write_field(JsonWriter& writer, const T& x) {
  if constexpr (HasWriteValue<T>) {
    write_value(writer, x);
  } else if constexpr (kIsUnsigned64<T>) {
    write_unsigned(writer, x);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    writer.value(x);
  } else if constexpr (std::is_enum_v<T>) {
    writer.value(enum_text(x));
  } else if constexpr (kIsId<T>) {
    x.valid() ? writer.value(x.value) : writer.value(nullptr);
  } else if constexpr (kIsQuantity<T>) {
    writer.value(x.value);
  } else if constexpr (kIsOptional<T>) {
    x ? write_field(writer, *x) : void(writer.value(nullptr));
  } else if constexpr (kIsVector<T>) {
    writer.begin_array();
    for (const auto& element : x) write_field<typename T::value_type>(writer, element);
    writer.end_array();
  } else if constexpr (kIsMap<T>) {
    writer.begin_object();
    for (const auto& [key, element] : x) {
      writer.key(key);
      write_field(writer, element);
    }
    writer.end_object();
  } else {
    write_record(writer, x);
  }
}

template <class T>
void RecordWriter::required(std::string_view key, const T& x, const Bounds&) {
  writer_.key(key);
  write_field(writer_, x);
}

template <class T>
void RecordWriter::optional(std::string_view key, const T& x, const Bounds& bounds) {
  if constexpr (kIsOptional<T>) {
    if (!x) return;
  }
  required(key, x, bounds);
}

template <class T>
Result<T> read_record(const Value& value, std::string file_name) {
  ReadContext context(std::move(file_name));
  T x{};
  if (!read_field(context, value, x)) return fail(context.take_error());
  return x;
}

template <class T>
Result<T> from_document(const Value& document, std::string file_name, std::string_view schema,
                        bool schema_needed) {
  ReadContext context(std::move(file_name));
  T x{};
  if (!context.check_schema(document, schema, schema_needed) || !read_field(context, document, x))
    return fail(context.take_error());
  return x;
}

template <class T>
void write_record(JsonWriter& writer, const T& x) {
  writer.begin_object();
  RecordWriter record(writer);
  describe(record, const_cast<T&>(x));  // one description serves both ways; a writer only looks
  writer.end_object();
}

template <class T>
std::string to_json(const T& x, std::string_view schema) {
  JsonWriter writer;
  writer.begin_object().member("schema", schema);
  RecordWriter record(writer);
  describe(record, const_cast<T&>(x));
  writer.end_object();
  return writer.take();
}

}  // namespace penstock
