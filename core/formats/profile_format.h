#pragma once

// penstock.profile/1 (docs/formats/profile.md): a profile as JSON.

#include <string>
#include <string_view>

#include "core/profile.h"
#include "core/result.h"
#include "core/value.h"

namespace penstock {

inline constexpr std::string_view kProfileSchema = "penstock.profile/1";

// What comes back has ordered spreads (min ≤ p10 ≤ median ≤ p90) and no cost twice. BadInput names
// place and remedy.
Result<Profile> read_profile(std::string_view text, std::string file_name);
Result<Profile> profile_from(const Value& document, std::string file_name);

// Reading gives back an equal profile.
std::string write_profile(const Profile& profile);

}  // namespace penstock
