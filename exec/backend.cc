#include "exec/backend.h"

#include <fmt/core.h>

#include "exec/cpu/cpu_backend.h"

namespace penstock {

Result<std::unique_ptr<Backend>> open_backend(const std::string& name) {
  if (name == "cpu") return cpu::make_cpu_backend();
  return fail(ErrorCode::Unavailable, fmt::format("this build has no backend \"{}\"", name), "--backend cpu");
}

}  // namespace penstock
