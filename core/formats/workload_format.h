#pragma once

// penstock.workload/1 (docs/formats/workload.md): a workload as TOML or JSON. In the file layers,
// sources, networks, stores and tasks refer to one another by name.

#include <string>
#include <string_view>

#include "core/archive.h"
#include "core/result.h"
#include "core/workload.h"

namespace penstock {

inline constexpr std::string_view kWorkloadSchema = "penstock.workload/1";

// TOML or JSON, told apart by parse_document (core/file.h). What comes back is valid. BadInput
// names place and remedy.
Result<Workload> read_workload(std::string_view text, std::string file_name);
Result<Workload> workload_from(const Value& document, std::string file_name);

// A workload that validates; reading gives back an equal one.
std::string write_workload(const Workload& workload);       // JSON
std::string write_workload_toml(const Workload& workload);  // TOML

// As a member of another document (core/archive.h).
bool read_value(ReadContext& context, const Value& value, Workload& workload);
void write_value(JsonWriter& writer, const Workload& workload);

}  // namespace penstock
