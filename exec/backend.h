#pragma once

// A backend: where the devices of a run come from, how they are joined, and what they share: one clock, and whether the run
// has been given up. Beside exec/backend.cc, which lists them, nothing of exec outside a backend's own folder names any.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "exec/communicator.h"
#include "exec/device.h"

namespace penstock {

class Backend {
 public:
  virtual ~Backend() = default;

  // The device of rank `rank`, one of `ranks` that run at once. Devices keep what they need of their backend; now(), abort()
  // and reason() are of all of them.
  virtual Result<std::unique_ptr<RankDevice>> rank_device(std::int32_t rank, std::int32_t ranks) = 0;
  // One that is no rank's: of a reference, or of an evaluation beside a run.
  virtual Result<std::unique_ptr<RankDevice>> lone_device() = 0;

  // The ends of an edge between two of its devices, or of one with itself; and the members of a group, in their order.
  virtual CommunicatorPair connect(RankDevice& source, RankDevice& destination) = 0;
  virtual std::vector<std::unique_ptr<GroupCommunicator>> assemble(std::span<RankDevice* const> members) = 0;

  // Any thread. The first reason stands.
  virtual Nanoseconds now() const = 0;
  virtual void abort(const Error& reason) = 0;
  virtual std::optional<Error> reason() const = 0;
};

// Anew for each run. Unavailable, naming those there are, unless this build has it.
Result<std::unique_ptr<Backend>> open_backend(const std::string& name);

}  // namespace penstock
