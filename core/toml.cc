#include "core/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/json.h"

namespace penstock {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& file_name) : file_(file_name) {}

  Result<Value> read(const toml::node& node, int depth) const {
    if (depth > kDeepestNesting)
      return refuse(node, fmt::format("nested more than {} deep", kDeepestNesting));
    Value out;
    switch (node.type()) {
      case toml::node_type::string:
        out = Value(node.as_string()->get());
        break;
      case toml::node_type::integer:
        out = Value(node.as_integer()->get());
        break;
      case toml::node_type::boolean:
        out = Value(node.as_boolean()->get());
        break;
      case toml::node_type::floating_point: {
        const double x = node.as_floating_point()->get();
        if (!std::isfinite(x)) return refuse(node, "the number is not finite");
        out = Value(x);
        break;
      }
      case toml::node_type::array: {
        out = Value::empty_array();
        for (const toml::node& element : *node.as_array()) {
          PENSTOCK_TRY(Value value, read(element, depth + 1));
          out.append(std::move(value));
        }
        break;
      }
      case toml::node_type::table: {
        PENSTOCK_TRY(out, read_table(*node.as_table(), depth));
        break;
      }
      case toml::node_type::date:
      case toml::node_type::time:
      case toml::node_type::date_time:
        return refuse(node, "dates and times have no use here",
                      "put it in double quotes to make it text");
      case toml::node_type::none:
        return refuse(node, "a value of no known type");
    }
    out.set_place(node.source().begin.line, node.source().begin.column);
    return out;
  }

 private:
  // The library keeps members sorted by name; where their keys stand gives back the order of the
  // file.
  Result<Value> read_table(const toml::table& table, int depth) const {
    struct Member {
      const toml::key* key;
      const toml::node* node;
    };
    std::vector<Member> members;
    for (auto it = table.cbegin(); it != table.cend(); ++it)
      members.push_back({&it->first, &it->second});
    const auto place = [](const Member& m) {
      return std::tuple(m.key->source().begin.line, m.key->source().begin.column, m.key->str());
    };
    std::sort(members.begin(), members.end(),
              [&](const Member& a, const Member& b) { return place(a) < place(b); });
    Value out = Value::empty_object();
    for (const Member& member : members) {
      PENSTOCK_TRY(Value value, read(*member.node, depth + 1));
      out.object().emplace_back(std::string(member.key->str()), std::move(value));
    }
    return out;
  }

  tl::unexpected<Error> refuse(const toml::node& node, std::string message,
                               std::string hint = {}) const {
    const toml::source_position at = node.source().begin;
    return fail({.code = ErrorCode::BadInput,
                 .message = std::move(message),
                 .where = {.file = file_,
                           .line = static_cast<int>(at.line),
                           .column = static_cast<int>(at.column)},
                 .hint = std::move(hint)});
  }

  const std::string& file_;
};

void append_key(std::string& out, std::string_view key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!key.empty() && std::all_of(key.begin(), key.end(), bare))
    out += key;
  else
    append_quoted(out, key);
}

void append_in_line(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Null:
      PENSTOCK_CHECK(false, "TOML has no null");
      break;
    case Value::Kind::Boolean:
      out += value.boolean() ? "true" : "false";
      break;
    case Value::Kind::Integer:
      out += fmt::format("{}", value.integer());
      break;
    case Value::Kind::Real:
      append_real(out, value.real());
      break;
    case Value::Kind::String:
      append_quoted(out, value.string());
      break;
    case Value::Kind::Array: {
      out += '[';
      bool first = true;
      for (const Value& element : value.array()) {
        if (!std::exchange(first, false)) out += ", ";
        append_in_line(out, element);
      }
      out += ']';
      break;
    }
    case Value::Kind::Object: {
      out += '{';
      bool first = true;
      for (const auto& [key, member] : value.object()) {
        if (member.is_null()) continue;
        out += std::exchange(first, false) ? " " : ", ";
        append_key(out, key);
        out += " = ";
        append_in_line(out, member);
      }
      out += first ? "}" : " }";
      break;
    }
  }
}

bool is_table_array(const Value& value) {
  return value.is_array() && !value.array().empty() &&
         std::all_of(value.array().begin(), value.array().end(),
                     [](const Value& x) { return x.is_object(); });
}

// `path` is the dotted name of the table, "" at the top. Plain members must come first: after a
// [header] they would be its.
void append_table(std::string& out, const Value& table, const std::string& path) {
  const auto is_table = [](const Value& x) { return x.is_object() || is_table_array(x); };
  for (const auto& [key, member] : table.object()) {
    if (member.is_null() || is_table(member)) continue;
    append_key(out, key);
    out += " = ";
    append_in_line(out, member);
    out += '\n';
  }
  for (const auto& [key, member] : table.object()) {
    if (!is_table(member)) continue;
    std::string name = path;
    if (!name.empty()) name += '.';
    append_key(name, key);
    const auto header = [&](std::string_view open, std::string_view close) {
      if (!out.empty()) out += '\n';
      out += fmt::format("{}{}{}\n", open, name, close);
    };
    if (member.is_object()) {
      header("[", "]");
      append_table(out, member, name);
    } else {
      for (const Value& row : member.array()) {
        header("[[", "]]");
        append_table(out, row, name);
      }
    }
  }
}

// The library recurses over the parts of a dotted key, and over its tables again when it frees
// them; thousands of parts would end the process. Such a key stands on one line, so dots are
// counted between commas and outside quotes. Returns the line of the first key that is far too
// long, or 0.
int line_of_endless_key(std::string_view text) {
  constexpr int kMostDots = 4096;
  int line = 1, dots = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"' && i + 1 < text.size() && text[i + 1] != '\n')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ',') {
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return line;
    }
  }
  return 0;
}

}  // namespace

Result<Value> parse_toml(std::string_view text, std::string file_name) {
  if (const int line = line_of_endless_key(text))
    return fail({.code = ErrorCode::BadInput,
                 .message = fmt::format("nested more than {} deep", kDeepestNesting),
                 .where = {.file = std::move(file_name), .line = line}});
  try {
    const toml::table table = toml::parse(text);
    return Reader(file_name).read(table, 0);
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    return fail({.code = ErrorCode::BadInput,
                 .message = fmt::format("not TOML: {}", e.description()),
                 .where = {.file = std::move(file_name),
                           .line = static_cast<int>(at.line),
                           .column = static_cast<int>(at.column)}});
  }
}

std::string to_toml(const Value& document) {
  std::string out;
  append_table(out, document, "");
  return out;
}

}  // namespace penstock
