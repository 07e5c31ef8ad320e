#include <array>

#include "cli/verbs.h"

namespace penstock::cli {

std::span<const Command> commands() {
  static const auto table = std::to_array<Command>({
      profile_command(),
      plan_command(),
      check_command(),
      simulate_command(),
      run_command(),
      compare_command(),
      schedule_command(),
      schedules_command(),
      models_command(),
      clusters_command(),
      strategies_command(),
      doctor_command(),
      completion_command(),
      version_command(),
  });
  return table;
}

}  // namespace penstock::cli
