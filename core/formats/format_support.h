#pragma once

// What the file formats of the nouns share: errors of validate() with their place in the file,
// references by name.

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/ids.h"
#include "core/invalid.h"

namespace penstock {

// Hands `error`, whose pointer starts at `root`, to the context: with file, line and column of the
// node it points to, or of the nearest one around it where a key was left out. Returns false, as
// ReadContext::fail does.
bool fail_at_pointer(ReadContext& context, const Value& root, Error error);

// Reads a record and then validates it: what the hooks read_value of the nouns do.
template <class T>
bool read_validated(ReadContext& context, const Value& value, T& x) {
  RecordReader reader(context, value);
  if (reader.ok()) describe(reader, x);
  if (!reader.finish()) return false;
  if (auto valid = validate(x); !valid)
    return fail_at_pointer(context, value, std::move(valid.error()));
  return true;
}

// For describe: a list or map that is left out of the file where it is empty.
template <class A, class T>
void unless_empty(A& a, std::string_view key, T& x) {
  if (A::kReading || !x.empty()) a.optional(key, x);
}

// For write_value of rows: a record on one line however long, so that tables read as tables.
template <class T>
void write_row(JsonWriter& writer, const T& x) {
  writer.begin_object(JsonWriter::Layout::Line);
  RecordWriter record(writer);
  describe(record, const_cast<T&>(x));  // as core/archive.h does: a writer only looks
  writer.end_object();
}

// Index by name over a list of records with names, which must outlive it. Of equal names the first
// counts: validate() refuses them later.
class NameTable {
 public:
  // what: "layer", for messages.
  template <class Item>
  NameTable(const std::vector<Item>& items, std::string_view what) : what_(what) {
    for (std::size_t i = 0; i < items.size(); ++i) index_.emplace(items[i].name, i);
  }

  template <class IdType>
  Result<IdType> find(const std::string& name, const std::string& pointer) const {
    const auto found = index_.find(name);
    if (found != index_.end()) return IdType(static_cast<std::int64_t>(found->second));
    return unknown(name, pointer);
  }

  // pointer: of the list.
  template <class IdType>
  Result<std::vector<IdType>> find_all(const std::vector<std::string>& names,
                                       const std::string& pointer) const {
    std::vector<IdType> out;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = index_.find(names[i]);
      if (found == index_.end()) return unknown(names[i], fmt::format("{}/{}", pointer, i));
      out.emplace_back(static_cast<std::int64_t>(found->second));
    }
    return out;
  }

 private:
  tl::unexpected<Error> unknown(const std::string& name, const std::string& pointer) const {
    std::vector<std::string_view> names;
    for (const auto& [known, index] : index_) names.push_back(known);
    const std::string_view meant = nearest(name, names);
    std::string hint = fmt::format("name a {} of the file", what_);
    if (index_.empty()) hint = fmt::format("the file lists no {}s", what_);
    if (!meant.empty()) hint = fmt::format("did you mean '{}'?", meant);
    return invalid(pointer, fmt::format("there is no {} '{}'", what_, name), std::move(hint));
  }

  std::string_view what_;
  std::map<std::string_view, std::size_t> index_;
};

template <class Tag, class Item>
std::vector<std::string> names_of(const std::vector<Id<Tag>>& ids, const std::vector<Item>& items) {
  std::vector<std::string> out;
  for (const Id<Tag> id : ids) out.push_back(items[id.index()].name);
  return out;
}

// What our own JSON writer made, as TOML.
std::string json_to_toml(std::string_view json);

}  // namespace penstock
