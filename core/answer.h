#pragma once

// What every verb prints: named numbers with their units, named tables, remarks, and one line of
// judgement. Keys are the JSON keys that documents promise; labels and titles are for people.
// Numbers are kept and written to files in base units (seconds, bytes), and scaled for people only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "core/value.h"

namespace penstock {

class Unit {
 public:
  enum Kind : std::uint8_t {
    None,
    Seconds,
    Bytes,
    BytesPerSecond,
    FlopsPerSecond,
    Fraction,  // of 1: printed in percent
    Other,     // `name` after the number
  };

  Unit(Kind kind = None) : kind_(kind) {}
  Unit(std::string_view name) : kind_(Other), name_(name) {}  // "samples/s"
  Unit(const char* name) : Unit(std::string_view(name)) {}

  Kind kind() const { return kind_; }
  std::string_view name() const;  // of the base unit: "s", "B", "" for none
  bool operator==(const Unit&) const = default;

 private:
  Kind kind_;
  std::string name_;
};

enum class Align : std::uint8_t { Left, Right };

// Who sees a scalar or table: everyone, or only those who read data (JSON, CSV) — long lists,
// program text.
enum class Show : std::uint8_t { Always, DataOnly };

// A cell is any Value: a number, text, true or false, null (unknown: printed "-"), a list, or lists
// of lists.
struct Scalar {
  std::string key;
  std::string label;
  Value value;
  Unit unit;
  Show show = Show::Always;
};

struct Column {
  std::string key;
  std::string label;
  Unit unit = {};
  Align align = Align::Right;
};

struct Table {
  std::string key;
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;
  Show show = Show::Always;

  void add(std::vector<Value> row);  // PENSTOCK_CHECKs one cell a column
};

//   Answer answer("penstock.simulate/1");
//   answer.add("iteration_time_s", "iteration time", seconds(t), Unit::Seconds);
//   Table& devices = answer.add_table("devices", "devices", {{"rank", "rank"}, {"busy_s", "busy",
//   Unit::Seconds}}); devices.add({0, 0.05});
struct Answer {
  explicit Answer(std::string schema_name) : schema(std::move(schema_name)) {}

  std::string schema;
  std::vector<Scalar> scalars;
  std::vector<Table> tables;
  std::vector<std::string> notes;
  std::string verdict;  // "" for none

  void add(std::string key, std::string label, Value value, Unit unit = {},
           Show show = Show::Always);
  // The reference holds until the next add_table.
  Table& add_table(std::string key, std::string title, std::vector<Column> columns);
  void note(std::string text) { notes.push_back(std::move(text)); }
};

// For people: aligned columns, scaled units. Ends in a newline.
std::string to_text(const Answer& answer);
std::string to_markdown(const Answer& answer);
// Blocks parted by an empty line: the scalars as key,value,unit; then each table under a line "#
// key" (which is left out where the table is all there is). RFC 4180 quoting; a list stands in one
// cell, parted by ';', lists of lists as JSON.
std::string to_csv(const Answer& answer);
// {"schema": ..., scalars by key, each table by key as an array of objects, "notes": [...],
// "verdict": "..."}; the last two only where there are any. PENSTOCK_CHECKs that keys are unique.
std::string to_json(const Answer& answer);

// A value for people: "12.3 ms", "4.00 GiB", "12.5 %", "80 samples/s", "yes", "-", "[0, 1]".
std::string human_text(const Value& value, const Unit& unit);

}  // namespace penstock
