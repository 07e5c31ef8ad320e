#pragma once

// Small nouns of our own making, valid as they are, and random ones from a seed.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/cluster.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/workload.h"

namespace penstock::test {

std::vector<LayerId> layer_ids(std::initializer_list<int> ids);

// embed 0 -> norm 1 -> qkv 2 -> attention 3 -> residual 4 (reads 0 and 3) -> gelu 5 -> head 6 ->
// loss 7; sequence 4, width 6, 256 classes, global batch 8.
Workload sample_workload();
// pixels 0 [2, 4, 6] -> conv 1 [3, 2, 3] -> norm 2 -> relu 3 -> upsample 4 [3, 4, 6] -> concat 5
// (reads 0 and 4) [5, 4, 6] -> max pool 6 [5, 2, 3] -> average 7 [5] -> head 8 [4] -> loss 9;
// sources image 0, label 1; global batch 8.
Workload sample_image_workload();
// A frozen teacher, a trained student and its moving average, with tasks, edges and two phases.
Workload sample_distillation();
// Hosts a and b; devices a0, a1 on a, b0 on b; a link within a, a slower one from a1 to b0.
Cluster sample_cluster();
Profile sample_profile();
// sample_workload on two ranks of sample_cluster: layers 0-3 and 4-7, 4 microbatches of 2.
Plan sample_plan();

// Opaque layers in a random DAG; names with quotes, blanks, line breaks and letters beyond ASCII.
Workload random_workload(std::uint64_t seed);
// A random tree of links over the devices, and a few more.
Cluster random_cluster(std::uint64_t seed);
Profile random_profile(std::uint64_t seed);
// A random workload on a random cluster, cut at random places.
Plan random_plan(std::uint64_t seed);

}  // namespace penstock::test
