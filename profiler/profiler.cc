#include "profiler/profiler.h"

#include <fmt/core.h>

#include <cstdlib>

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
  return profile;
}

}  // namespace penstock
