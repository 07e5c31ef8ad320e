#pragma once

// penstock.cluster/1 (docs/formats/cluster.md): a cluster as TOML or JSON. In the file devices name
// their host, and links their devices.

#include <string>
#include <string_view>

#include "core/archive.h"
#include "core/cluster.h"
#include "core/result.h"

namespace penstock {

inline constexpr std::string_view kClusterSchema = "penstock.cluster/1";

// TOML or JSON, told apart by parse_document (core/file.h). What comes back is valid. BadInput
// names place and remedy.
Result<Cluster> read_cluster(std::string_view text, std::string file_name);
Result<Cluster> cluster_from(const Value& document, std::string file_name);

// A cluster that validates; reading gives back an equal one.
std::string write_cluster(const Cluster& cluster);       // JSON
std::string write_cluster_toml(const Cluster& cluster);  // TOML

// As a member of another document (core/archive.h).
bool read_value(ReadContext& context, const Value& value, Cluster& cluster);
void write_value(JsonWriter& writer, const Cluster& cluster);

}  // namespace penstock
