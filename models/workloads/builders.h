#pragma once

// Built-in workloads by name and parameters: "gpt:layers=24,hidden=1024,heads=16,sequence=1024".

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/workload.h"

namespace penstock {

struct BuilderParameter {
  std::string_view name;
  std::int64_t default_value;
  std::int64_t least;
  std::int64_t
      greatest;  // beyond any use, and so small that sizes of one layer stay within 63 bits
  std::string_view meaning;
};

using BuilderValues = std::map<std::string, std::int64_t, std::less<>>;  // one a parameter

// One builder, one file, one row of the table in builders.cc.
struct WorkloadBuilder {
  std::string_view name;
  std::string_view about;
  std::span<const BuilderParameter> parameters;
  Result<Workload> (*build)(const BuilderValues& values);
};

std::span<const WorkloadBuilder> workload_builders();

// A built-in by its text form. Unknown names and parameters are usage errors with the nearest known
// one; so are values that are no whole numbers or out of range, and workloads too large to count in
// 63 bits. The workload's name is the form again, parameters at their defaults and the batch left
// out: what its profile is known by. O(layers).
Result<Workload> build_workload(std::string_view text);

// What WORKLOAD means on the command line: a built-in, or else a file in any format we read
// (sniffed).
Result<Workload> load_workload(const std::string& text);

}  // namespace penstock
