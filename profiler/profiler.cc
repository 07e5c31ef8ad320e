#include "profiler/profiler.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "profiler/fit_layers.h"

namespace penstock {

Result<Profile> make_profile(const Workload& workload, const ProfileRequest& request) {
  Profile profile;
  profile.workload = workload.name;
  profile.workload_fingerprint = cost_fingerprint(workload);
  profile.device_kind = "cpu";
  profile.machine = identify_machine();
  double load = 0;
  if (getloadavg(&load, 1) == 1) profile.load_average = load;
  if (profile.load_average > 0.5 * static_cast<double>(profile.machine.cores)) {
    profile.warnings.push_back(fmt::format("the machine was busy: load average {:.1f}", profile.load_average));
  }
  for (const std::int64_t microbatch : request.microbatch_sizes) {
    if (request.progress) request.progress(fmt::format("layers at microbatch {}", microbatch));
    PENSTOCK_TRY_VOID(profile_layers(workload, microbatch, request, profile));
  }
  if (request.progress) request.progress("hand-off between ranks");
  PENSTOCK_TRY_VOID(profile_links(request, profile));
  if (request.contention) {
    if (request.progress) request.progress("ranks beside one another");
    PENSTOCK_TRY_VOID(profile_contention(request, profile));
  }
  profile.fits = fit_layers(profile.times);
  if (request.microbatch_sizes.empty()) return profile;
  if (request.progress) request.progress("drift");
  Profile again;
  ProfileRequest less = request;
  less.budget_s = request.budget_s / 4;
  PENSTOCK_TRY_VOID(profile_layers(workload, request.microbatch_sizes.front(), less, again));
  profile.drift = drift_between(profile, again);
  if (!profile.is_stable())
    profile.warnings.push_back(fmt::format("unstable: at the end, layers took {:.1f} % {} than at the beginning",
                                           100 * std::abs(*profile.drift), *profile.drift > 0 ? "longer" : "shorter"));
  return profile;
}

double drift_between(const Profile& before, const Profile& after) {
  Nanoseconds first, last;
  for (const LayerTime& row : after.times) {
    const LayerTime* same = before.find(row.signature, row.op, row.microbatch);
    if (same == nullptr) continue;
    first += same->time.median;
    last += row.time.median;
  }
  return first.value == 0 ? 0 : seconds(last) / seconds(first) - 1;
}

}  // namespace penstock
