// A checkpoint. The first byte is even: the rest is the file. Odd: the rest is payloads of sections, each behind its length
// in two bytes, which are put into a file with checksums that hold, so that what lies behind those is read too. What is
// loaded is restored, saved, and loaded again.

#include <algorithm>
#include <map>

#include "exec/checkpoint.h"
#include "exec/checkpoint_bytes.h"
#include "models/workloads/builders.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

class Values final : public ParameterAccess {
 public:
  void read(std::size_t parameter, std::int32_t state, std::span<float> out) const override {
    const std::vector<float>& kept = kept_.at({parameter, state});
    require(kept.size() == out.size(), "a parameter has the length it was restored with");
    std::copy(kept.begin(), kept.end(), out.begin());
  }
  void write(std::size_t parameter, std::int32_t state, std::span<const float> values) override {
    kept_[{parameter, state}].assign(values.begin(), values.end());
  }
  std::string bytes() const {
    std::string out;
    for (const auto& [key, values] : kept_) append_floats(out, values.data(), values.size());
    return out;
  }

 private:
  std::map<std::pair<std::size_t, std::int32_t>, std::vector<float>> kept_;
};

Plan plan() {
  Plan plan;
  plan.workload = require_value(build_workload("unet:levels=1,width=1,size=4,channels=1,batch=2"), "the workload is one");
  return plan;
}

void write_sections(const std::string& path, std::string_view bytes) {
  auto file = CheckpointFile::create(path);
  require_value(file, "a checkpoint can be made");
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<unsigned char>(bytes[0]) | static_cast<std::size_t>(static_cast<unsigned char>(bytes[1])) << 8;
    bytes.remove_prefix(2);
    require(file->section(bytes.substr(0, length)).has_value(), "a section can be written");
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  require(file->finish("").has_value(), "a checkpoint can be finished");
}

void run(bool sections, std::string_view bytes) {
  static const Plan ours = plan();
  static const CheckpointIdentity identity = CheckpointIdentity::of(ours, 7);
  static const ScratchFile file("c.ckpt"), copy("copy.ckpt");
  if (sections)
    write_sections(file.path(), bytes);
  else
    file.write(bytes);
  const auto loaded = Checkpoint::load(file.path(), identity, ours.workload);
  if (!loaded) return require_refusal(loaded.error());
  Values values, again;
  loaded->restore(values);
  require(loaded->step() >= 0, "steps are counted from 0");
  require(save_checkpoint(copy.path(), identity, loaded->step(), ours.workload, values, Replaced::Dropped).has_value(),
          "what was loaded is saved");
  const auto reloaded = Checkpoint::load(copy.path(), identity, ours.workload);
  require_value(reloaded, "what was saved loads");
  reloaded->restore(again);
  require(reloaded->step() == loaded->step() && again.bytes() == values.bytes(), "bit for bit");
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) penstock::fuzz::run(data[0] % 2 == 1, penstock::fuzz::text(data + 1, size - 1));
  return 0;
}
