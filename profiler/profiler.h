#pragma once

// Measures what a workload costs on this machine: every distinct layer's forward, input gradient, weight gradient, loss and
// update at several microbatch sizes, and handing a tensor from one rank to another. Layers are timed in sequence inside
// the whole network, with the caches in the state that training leaves them in, not in isolated loops; inputs are random.
// Protocol: warm up until three medians in a row agree to 2 %, then at least 30 samples of each layer or the time budget.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/profile.h"
#include "core/result.h"
#include "core/workload.h"

namespace penstock {

struct ProfileRequest {
  std::vector<std::int64_t> microbatch_sizes = {1, 2, 4, 8};
  bool contention = true;  // measure what ranks do to one another
  bool link_traffic = false;  // measure hand-offs both ways at once, and between several pairs of ranks, too
  double budget_s = 3;     // for each microbatch size, beyond warming up; at least 5 samples are taken
  std::uint64_t seed = 0;
  std::stop_token stop;    // asked to stop: Interrupted
  std::function<void(const std::string& what)> progress;
};

Result<Profile> make_profile(const Workload& workload, const ProfileRequest& request);

// The parts of make_profile. Each adds to the profile.
Result<void> profile_layers(const Workload& workload, std::int64_t microbatch, const ProfileRequest& request, Profile& profile);
// `before` and `after` hold the same layers, measured twice: by how much all of them together got slower.
double drift_between(const Profile& before, const Profile& after);
Result<void> profile_links(const ProfileRequest& request, Profile& profile);
// How much longer each class of work takes while a second core does another (core/contention.h); nothing on one core. About a
// second. Times are of threads. Slowdowns below 2 % are taken for noise, and none.
Result<void> profile_contention(const ProfileRequest& request, Profile& profile);
Fingerprint identify_machine();

}  // namespace penstock
