#pragma once

// How contention stands in a plan and in a program (docs/formats/plan.md).

#include <vector>

#include "core/contention.h"
#include "core/formats/format_support.h"

namespace penstock {

// A matrix as rows of numbers: three of three.
template <class A>
void describe_matrix(A& a, Contention::Matrix& x) {
  std::vector<std::vector<double>> rows;
  for (const auto& row : x) rows.emplace_back(row.begin(), row.end());
  a.required("slowdown", rows, between(1, kMostSlowdown));
  if (!A::kReading || !a.ok()) return;
  bool is_square = rows.size() == kWorkClasses;
  for (const std::vector<double>& row : rows) is_square = is_square && row.size() == kWorkClasses;
  if (!is_square)
    return a.fail("slowdown", "not three rows of three numbers",
                  "one row and one column each for matrix, memory and copy");
  for (std::size_t c = 0; c < kWorkClasses; ++c)
    for (std::size_t d = 0; d < kWorkClasses; ++d) x[c][d] = rows[c][d];
}

template <class A>
void describe(A& a, Contention& x) {
  a.required("cores", x.cores, at_least(0));
  a.required("private_cache_bytes", x.private_cache, at_least(0));
  a.required("memory_bandwidth", x.memory_bandwidth, at_least(0));
  describe_matrix(a, x.slowdown);
}

}  // namespace penstock
