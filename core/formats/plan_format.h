#pragma once

// penstock.plan/1 (docs/formats/plan.md): a plan as JSON, with the workload and the cluster it is
// for.

#include <string>
#include <string_view>

#include "core/plan.h"
#include "core/result.h"
#include "core/value.h"

namespace penstock {

inline constexpr std::string_view kPlanSchema = "penstock.plan/1";

// What comes back is valid. BadInput names place and remedy.
Result<Plan> read_plan(std::string_view text, std::string file_name);
Result<Plan> plan_from(const Value& document, std::string file_name);

// A plan that validates; reading gives back an equal one.
std::string write_plan(const Plan& plan);

// Of that text (FNV-1a, 16 hexadecimal digits): timelines and metrics of one plan carry the same.
std::string plan_digest(const Plan& plan);

}  // namespace penstock
