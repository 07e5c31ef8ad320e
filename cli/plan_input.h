#pragma once

// From the flags of `plan` to the question that the planner answers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "models/workloads/precision.h"
#include "planner/search.h"

namespace penstock::cli {

struct PlanFlags {
  std::string workload, cluster, profile;
  std::int32_t ranks = 0;
  std::int64_t global_batch = 0;  // 0: the workload's
  std::vector<std::int64_t> microbatch_sizes;
  std::vector<std::int64_t> replicas;  // of each stage; empty: one each
  bool any_replicas = false;           // as many as pay
  std::string split = "batch";
  std::vector<std::string> schedules;
  std::string recompute;
  std::string strategy = "auto";
  Bytes memory_limit;
  std::string optimizer;  // "": the workload's
  std::optional<Precision> precision;  // likewise
};

// Whether the cluster stands for the machine we are on: the forms that say so, not a file that may
// describe another.
bool is_this_machine(const std::string& text, const Cluster& cluster);

// "flat:4" and "nodes:2x2" without "device=": then it is cpu, which is worth saying.
bool names_no_device(const std::string& text);

// What --recompute takes: all, none, and the kinds of layers.
std::vector<std::string> recompute_words();

// Loads what is named. A profile taken on another machine than this is refused where the cluster is
// this machine.
Result<PlanRequest> plan_request(const PlanFlags& input);

}  // namespace penstock::cli
