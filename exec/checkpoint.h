#pragma once

// A training's state on disk: every parameter and optimizer state after some number of steps (docs/formats/checkpoint.md).
// Each section carries a checksum, and so does the whole: no byte of a file can change, and no byte be missing, unnoticed.

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan.h"
#include "core/result.h"
#include "exec/checkpoint_bytes.h"
#include "exec/parameters.h"

namespace penstock {

// What must agree for training to go on as if it had never stopped: the workload and the plan's arithmetic (microbatch and
// number of them; of layers with several copies, how many and how they share a batch), not how stages lie on ranks; and the seed, which decides the data.
struct CheckpointIdentity {
  std::string plan;  // 16 hex digits
  std::uint64_t seed = 0;

  static CheckpointIdentity of(const Plan& plan, std::uint64_t seed);
};

// The file that `path` names once links are followed, also one that is not there yet: it is replaced, not the link. Usage if
// something is there that is no regular file, a device say, or if its folder is not there.
Result<std::string> checkpoint_target(const std::string& path);

// Where the file that was replaced by the latest save is kept.
// Beside `path`, or where that is a link, beside the file it leads to.
std::string previous_checkpoint(const std::string& path);

// What becomes of the file that is replaced. Dropped: it is known to be damaged, and must not take the place of a whole one.
enum class Replaced : std::uint8_t { Kept, Dropped };

// Replaces the file at `path` as a whole once all is on disk. Whenever the process or the machine stops, a whole file remains
// at `path` or at previous_checkpoint(path). BadInput if it cannot be written.
Result<void> save_checkpoint(const std::string& path, const CheckpointIdentity& identity, std::int64_t step,
                             const Workload& workload, const ParameterAccess& parameters, Replaced replaced);

class Checkpoint {
 public:
  // Verifies the file, of any size, and keeps it open. BadInput, saying which section is damaged and where it starts, if the file is not whole; Infeasible
  // if it is of another plan, Usage if of another seed.
  static Result<Checkpoint> load(const std::string& path, const CheckpointIdentity& identity, const Workload& workload);

  // `path`, or if that is damaged or gone the one kept before it, which is said in `warning`. If neither is whole, the error
  // of both.
  static Result<Checkpoint> load_latest(const std::string& path, const CheckpointIdentity& identity,
                                        const Workload& workload, std::string& warning);

  std::int64_t step() const { return step_; }  // steps done
  // BadInput if the file has become shorter or unreadable since. One parameter at a time is in memory.
  Result<void> restore(ParameterAccess& parameters) const;

 private:
  explicit Checkpoint(CheckpointReader file) : file_(std::move(file)) {}

  CheckpointReader file_;
  std::int64_t step_ = 0;
  std::int64_t states_ = 0;
  std::vector<std::uint64_t> values_;  // one a parameter: where its value stands, its states behind it
  std::vector<std::size_t> elements_;
};

}  // namespace penstock
