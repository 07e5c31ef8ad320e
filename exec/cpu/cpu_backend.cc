#include "exec/cpu/cpu_backend.h"

#include "exec/cpu/cpu_device.h"
#include "exec/cpu/group.h"
#include "exec/cpu/processor.h"

namespace penstock::cpu {
namespace {

// Devices come back through the interface: those of this backend are all CpuDevices.
CpuDevice& own(RankDevice& device) { return static_cast<CpuDevice&>(device); }

class CpuBackend final : public Backend {
 public:
  Result<std::unique_ptr<RankDevice>> rank_device(std::int32_t rank, std::int32_t ranks) override {
    const auto r = static_cast<std::size_t>(rank);
    const bool bind = static_cast<std::size_t>(ranks) <= cores_.size();
    return std::make_unique<CpuDevice>(state_, bind ? cores_[r] : -1);
  }
  Result<std::unique_ptr<RankDevice>> lone_device() override { return std::make_unique<CpuDevice>(state_, -1); }

  CommunicatorPair connect(RankDevice& source, RankDevice& destination) override {
    return cpu::connect(own(source), own(destination));
  }
  std::vector<std::unique_ptr<GroupCommunicator>> assemble(std::span<RankDevice* const> members) override {
    std::vector<CpuDevice*> devices;
    for (RankDevice* member : members) devices.push_back(&own(*member));
    return cpu::assemble(devices);
  }

  Nanoseconds now() const override { return state_->now(); }
  void abort(const Error& reason) override { state_->abort(reason); }
  std::optional<Error> reason() const override { return state_->reason(); }

 private:
  const std::shared_ptr<RunState> state_ = std::make_shared<RunState>();
  const std::vector<int> cores_ = cores();
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace penstock::cpu
