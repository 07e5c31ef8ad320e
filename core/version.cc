#include "core/version.h"

namespace penstock {

std::string_view version() { return PENSTOCK_VERSION; }

std::string_view compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace penstock
