#pragma once

// Ranks that slow one another down (core/contention.h): from costs into a plan, and from a plan into its program.

#include "core/plan.h"
#include "core/program.h"
#include "models/costs/cost_table.h"

namespace penstock {

// The plan, which has its devices and stages, carries the contention of its costs if that can make a difference: several
// ranks are on one host, and classes slow one another down there, or its cores are fewer than what they run at once.
void carry_contention(Plan& plan, const CostTable& costs);

// The program of a plan with contention knows it, and the hosts of its ranks, and its compute recipes become segments: layer
// by layer as the operation runs them, each with its share of memory (models/costs/memory_share.h), neighbours of about one share
// in one segment. Each lasts as long as before. Where the times of a stage are not the sums of its layers' (a plan edited by
// hand), an operation stays one segment, with its layers' shares in one. O(layers · operations of a stage).
void add_contention(const Plan& plan, Program& program);

}  // namespace penstock
