#pragma once

// The verbs, one a file of the same name.

#include "cli/command.h"

namespace penstock::cli {

Command profile_command();
Command plan_command();
Command check_command();
Command simulate_command();
Command run_command();
Command compare_command();
Command schedule_command();
Command schedules_command();  // listings.cc, as the three below
Command models_command();
Command clusters_command();
Command strategies_command();
Command doctor_command();
Command completion_command();
Command version_command();

}  // namespace penstock::cli
