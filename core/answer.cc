#include "core/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/json.h"
#include "core/printable.h"
#include "core/result.h"

namespace penstock {
namespace {

std::string human_number(double x) {
  if (std::abs(x) >= 9999.5 && std::abs(x) < 1e15) return fmt::format("{:.0f}", x);
  return fmt::format("{:.4g}", x);
}

std::string human_seconds(double x) {
  constexpr double kShortest = 1e-9;
  if (x != 0 && std::abs(x) < kShortest) return fmt::format("{:.3g} ns", x / kShortest);
  const Nanoseconds t = nanoseconds(std::abs(x));
  return fmt::format("{}{}", x < 0 ? "-" : "", text(t));
}

// Characters as wide as one column each: bytes that continue a character do not count.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void pad(std::string& out, std::string_view cell, std::size_t to, Align align) {
  const std::string blanks(to - std::min(to, width(cell)), ' ');
  if (align == Align::Right) out += blanks;
  out += cell;
  if (align == Align::Left) out += blanks;
}

// Header and rows of a table as people read them.
std::vector<std::vector<std::string>> human_cells(const Table& table) {
  std::vector<std::vector<std::string>> out(1);
  for (const Column& column : table.columns) out[0].push_back(column.label);
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = out.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(human_text(row[i], table.columns[i].unit));
  }
  return out;
}

std::vector<std::size_t> widths(const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> out(cells[0].size(), 0);
  for (const auto& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) out[i] = std::max(out[i], width(row[i]));
  return out;
}

void trim_line(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
}

std::string escape_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_cell(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return "";
    case Value::Kind::String:
      return csv_field(value.string());
    case Value::Kind::Array: {
      const auto nested = [](const Value& x) { return x.is_array() || x.is_object(); };
      if (std::any_of(value.array().begin(), value.array().end(), nested))
        return csv_field(to_json(value, 0));
      std::string out;
      for (const Value& x : value.array()) {
        if (!out.empty()) out += ';';
        out += x.is_string() ? x.string() : csv_cell(x);
      }
      return csv_field(out);
    }
    default:
      return csv_field(to_json(value, 0));
  }
}

void append_csv(std::string& out, std::size_t column, std::string_view field) {
  if (column > 0) out += ',';
  out += field;
}

}  // namespace

std::string_view Unit::name() const {
  switch (kind_) {
    case Seconds:
      return "s";
    case Bytes:
      return "B";
    case BytesPerSecond:
      return "B/s";
    case FlopsPerSecond:
      return "FLOP/s";
    case Other:
      return name_;
    case None:
    case Fraction:
      return "";
  }
  return "";
}

void Table::add(std::vector<Value> row) {
  PENSTOCK_CHECK(row.size() == columns.size(), key);
  rows.push_back(std::move(row));
}

void Answer::add(std::string key, std::string label, Value value, Unit unit, Show show) {
  scalars.push_back({std::move(key), std::move(label), std::move(value), std::move(unit), show});
}

Table& Answer::add_table(std::string key, std::string title, std::vector<Column> columns) {
  return tables.emplace_back(
      Table{std::move(key), std::move(title), std::move(columns), {}, Show::Always});
}

std::string human_text(const Value& value, const Unit& unit) {
  switch (value.kind()) {
    case Value::Kind::Null:
      return "-";
    case Value::Kind::Boolean:
      return value.boolean() ? "yes" : "no";
    case Value::Kind::String:
      return printable(value.string(), true);
    case Value::Kind::Array: {
      std::string out = "[";
      for (const Value& x : value.array()) {
        if (out.size() > 1) out += ", ";
        out += human_text(x, unit);
      }
      return out + "]";
    }
    case Value::Kind::Object:
      return printable(to_json(value, 0));
    case Value::Kind::Integer:
    case Value::Kind::Real:
      break;
  }
  const double x = value.real();
  switch (unit.kind()) {
    case Unit::Seconds:
      return human_seconds(x);
    case Unit::Bytes:
      return text(Bytes(value.is_integer() ? value.integer() : std::llround(x)));
    case Unit::BytesPerSecond:
      return text(BytesPerSecond(x));
    case Unit::FlopsPerSecond:
      return text(FlopsPerSecond(x));
    case Unit::Fraction:
      return fmt::format("{:.1f} %", 100 * x);
    case Unit::None:
    case Unit::Other:
      break;
  }
  std::string out = value.is_integer() ? fmt::format("{}", value.integer()) : human_number(x);
  if (unit.kind() == Unit::Other) out += fmt::format(" {}", unit.name());
  return out;
}

std::string to_text(const Answer& answer) {
  std::string out;
  std::size_t label = 0;
  for (const Scalar& scalar : answer.scalars)
    if (scalar.show == Show::Always) label = std::max(label, width(scalar.label));
  for (const Scalar& scalar : answer.scalars) {
    if (scalar.show != Show::Always) continue;
    pad(out, scalar.label, label, Align::Left);
    out += fmt::format("  {}", human_text(scalar.value, scalar.unit));
    trim_line(out);
    out += '\n';
  }
  const auto part = [&out] {
    if (!out.empty()) out += '\n';
  };
  for (const Table& table : answer.tables) {
    if (table.show != Show::Always) continue;
    part();
    if (!table.title.empty()) out += table.title + '\n';
    const auto cells = human_cells(table);
    const auto columns = widths(cells);
    for (const auto& row : cells) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        out += "  ";
        pad(out, row[i], columns[i], table.columns[i].align);
      }
      trim_line(out);
      out += '\n';
    }
    if (table.rows.empty()) out += "  (none)\n";
  }
  if (!answer.notes.empty()) part();
  for (const std::string& note : answer.notes) out += fmt::format("note: {}\n", printable(note, true));
  if (!answer.verdict.empty()) {
    part();
    out += printable(answer.verdict, true) + '\n';
  }
  return out;
}

std::string to_markdown(const Answer& answer) {
  std::string out;
  bool first = true;
  const auto row_of = [&](const std::vector<std::string>& cells) {
    out += '|';
    for (const std::string& cell : cells) out += fmt::format(" {} |", escape_markdown(cell));
    out += '\n';
  };
  for (const Scalar& scalar : answer.scalars) {
    if (scalar.show != Show::Always) continue;
    if (std::exchange(first, false)) out += "| quantity | value |\n|:---|---:|\n";
    row_of({scalar.label, human_text(scalar.value, scalar.unit)});
  }
  for (const Table& table : answer.tables) {
    if (table.show != Show::Always) continue;
    if (!out.empty()) out += '\n';
    if (!table.title.empty()) out += fmt::format("**{}**\n\n", table.title);
    const auto cells = human_cells(table);
    row_of(cells[0]);
    out += '|';
    for (const Column& column : table.columns)
      out += column.align == Align::Right ? "---:|" : ":---|";
    out += '\n';
    for (std::size_t i = 1; i < cells.size(); ++i) row_of(cells[i]);
  }
  if (!answer.notes.empty() && !out.empty()) out += '\n';
  for (const std::string& note : answer.notes) out += fmt::format("- {}\n", note);
  if (!answer.verdict.empty()) {
    if (!out.empty()) out += '\n';
    out += fmt::format("**{}**\n", answer.verdict);
  }
  return out;
}

std::string to_csv(const Answer& answer) {
  std::string out;
  if (!answer.scalars.empty()) out += "key,value,unit\n";
  for (const Scalar& scalar : answer.scalars)
    out += fmt::format("{},{},{}\n", csv_field(scalar.key), csv_cell(scalar.value),
                       csv_field(scalar.unit.name()));
  const bool alone = answer.scalars.empty() && answer.tables.size() == 1;
  for (const Table& table : answer.tables) {
    if (!out.empty()) out += '\n';
    if (!alone) out += fmt::format("# {}\n", table.key);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      append_csv(out, i, csv_field(table.columns[i].key));
    out += '\n';
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) append_csv(out, i, csv_cell(row[i]));
      out += '\n';
    }
  }
  return out;
}

std::string to_json(const Answer& answer) {
  JsonWriter writer;
  std::set<std::string, std::less<>> keys;
  const auto key = [&](std::string_view name) {
    PENSTOCK_CHECK(keys.emplace(name).second, name);
    writer.key(name);
  };
  writer.begin_object();
  key("schema");
  writer.value(answer.schema);
  for (const Scalar& scalar : answer.scalars) {
    key(scalar.key);
    writer.value(scalar.value);
  }
  for (const Table& table : answer.tables) {
    key(table.key);
    writer.begin_array();
    for (const auto& row : table.rows) {
      writer.begin_object(JsonWriter::Layout::Line);
      for (std::size_t i = 0; i < row.size(); ++i) writer.member(table.columns[i].key, row[i]);
      writer.end_object();
    }
    writer.end_array();
  }
  if (!answer.notes.empty()) {
    key("notes");
    writer.value(Value::list(answer.notes));
  }
  if (!answer.verdict.empty()) {
    key("verdict");
    writer.value(answer.verdict);
  }
  writer.end_object();
  return writer.take();
}

}  // namespace penstock
