#pragma once

// What the rule families share: the list of violations they add to, and the words they use for places.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program_check.h"

namespace penstock::check_rules {

class Report {
 public:
  explicit Report(std::size_t most) : most_(most) {}

  bool full() const { return violations_.size() >= most_; }
  std::size_t size() const { return violations_.size(); }
  void add(std::string_view rule, std::string message, std::vector<RankId> ranks = {},
           std::vector<std::string> instructions = {}) {
    if (full()) return;
    violations_.push_back({std::string(rule), std::move(message), std::move(ranks), std::move(instructions)});
  }
  std::vector<Violation> take() { return std::move(violations_); }

 private:
  std::size_t most_;
  std::vector<Violation> violations_;
};

inline RankId rank_id(std::size_t rank) { return RankId(static_cast<std::int64_t>(rank)); }

}  // namespace penstock::check_rules
