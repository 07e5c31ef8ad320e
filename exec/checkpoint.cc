#include "exec/checkpoint.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "core/file.h"
#include "core/random.h"

namespace penstock {
namespace {

// Header: plan digest (16 characters) | u64 seed | u64 steps done | u64 parameters | u64 states.
constexpr std::size_t kDigest = 16, kHeader = kDigest + 4 * 8;

std::string section_name(std::uint64_t section) {
  return section == 0 ? "the header" : fmt::format("the section of parameter {}", section - 1);
}

// Name, elements, value, states.
std::string head_of(const Parameter& parameter) {
  std::string out;
  append_u64(out, parameter.name.size());
  out += parameter.name;
  append_u64(out, static_cast<std::uint64_t>(parameter.elements()));
  return out;
}

}  // namespace

CheckpointIdentity CheckpointIdentity::of(const Plan& plan, std::uint64_t seed) {
  std::string text = fmt::format("{} batch {} microbatches {} of {}", fingerprint(plan.workload), plan.workload.global_batch,
                                 plan.microbatches, plan.microbatch_size);
  // By layer, whatever stages they are divided into: copies decide the shapes of kernels, the samples that statistics are of,
  // and in what order gradients are added. One copy is the same arithmetic whatever its split is called.
  std::map<std::pair<NetworkId, LayerId>, const PlanStage*> replicated;
  for (const PlanStage& stage : plan.stages) {
    if (stage.replicas == 1 && stage.tensor_parallel == 1) continue;
    for (const LayerId layer : stage.layers) replicated[{stage.network, layer}] = &stage;
  }
  for (const auto& [layer, stage] : replicated) {
    text += fmt::format(" layer {}.{} on {} {} by {}", layer.first.value, layer.second.value, stage->replicas,
                        stage->split == Split::Batch ? "batch" : "round robin", stage->tensor_parallel);
  }
  return {.plan = fmt::format("{:016x}", hash(text)), .seed = seed};
}

Result<std::string> checkpoint_target(const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](std::string message) {
    return fail(Error{.code = ErrorCode::Usage, .message = std::move(message), .where = {.file = path},
                      .hint = "a checkpoint replaces a file: name a regular one, or a new one in a folder that is there"});
  };
  const std::string target = follow_links(path);
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(target, ignored);
  if (status.type() == fs::file_type::symlink) return refuse("links lead round in a circle");
  if (fs::exists(status) && !fs::is_regular_file(status)) return refuse("this is no regular file");
  const fs::path folder = fs::path(target).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) return refuse(fmt::format("there is no folder {}", folder.string()));
  return target;
}

std::string previous_checkpoint(const std::string& path) { return follow_links(path) + ".previous"; }

Result<void> save_checkpoint(const std::string& path, const CheckpointIdentity& identity, std::int64_t step,
                             const Workload& workload, const ParameterAccess& parameters, Replaced replaced) {
  const std::vector<const Parameter*> all = all_parameters(workload);
  const std::int64_t states = workload.optimizer.states();
  PENSTOCK_TRY(const std::string target, checkpoint_target(path));
  PENSTOCK_TRY(CheckpointFile file, CheckpointFile::create(target));
  PENSTOCK_CHECK(identity.plan.size() == kDigest, "a plan digest of another length");
  std::string payload = identity.plan;
  append_u64(payload, identity.seed);
  append_u64(payload, static_cast<std::uint64_t>(step));
  append_u64(payload, all.size());
  append_u64(payload, static_cast<std::uint64_t>(states));
  PENSTOCK_TRY_VOID(file.section(payload));
  std::vector<float> values;
  for (std::size_t p = 0; p < all.size(); ++p) {
    payload = head_of(*all[p]);
    values.resize(static_cast<std::size_t>(all[p]->elements()));
    for (std::int32_t state = -1; state < states; ++state) {
      parameters.read(p, state, values);
      append_floats(payload, values.data(), values.size());
    }
    PENSTOCK_TRY_VOID(file.section(payload));
  }
  return file.finish(replaced == Replaced::Kept ? previous_checkpoint(path) : "");
}

Result<Checkpoint> Checkpoint::load(const std::string& path, const CheckpointIdentity& identity, const Workload& workload) {
  PENSTOCK_TRY(CheckpointReader file, CheckpointReader::open(path));
  // The header first, by itself: a file of another plan has another number of sections.
  constexpr std::size_t kBefore = kCheckpointMagic.size() + 8;
  char header[kBefore + kHeader] = {};
  const bool holds_one = file.bytes() >= sizeof(header) + 8;
  if (holds_one) PENSTOCK_TRY_VOID(file.read(0, header, sizeof(header)));
  if (!holds_one || read_u64(header + kBefore - 8) != kHeader) {
    PENSTOCK_TRY_VOID(file.verify(1, section_name));
    return fail(Error{.code = ErrorCode::BadInput, .message = "the checkpoint is damaged: its header has another length",
                      .where = {.file = path}, .hint = "resume from another checkpoint"});
  }
  const char* field = header + kBefore;
  const std::string plan(field, kDigest);
  field += kDigest;
  const std::uint64_t seed = read_u64(field), parameters = read_u64(field + 16);
  Checkpoint out(std::move(file));
  out.step_ = static_cast<std::int64_t>(read_u64(field + 8));
  out.states_ = static_cast<std::int64_t>(read_u64(field + 24));
  if (parameters >= out.file_.bytes()) PENSTOCK_TRY_VOID(out.file_.verify(1, section_name));
  PENSTOCK_TRY(const auto sections, out.file_.verify(parameters + 1, section_name));

  if (plan != identity.plan) {
    return fail(Error{.code = ErrorCode::Infeasible, .message = fmt::format("the checkpoint is of another plan ({}, not {})", plan, identity.plan),
                      .where = {.file = path},
                      .hint = "resume with a plan of the same workload, optimizer, global batch, microbatch size and replicas"});
  }
  if (seed != identity.seed) {
    return fail(Error{.code = ErrorCode::Usage, .message = fmt::format("the checkpoint is of a run with seed {}, not {}", seed, identity.seed),
                      .where = {.file = path}, .hint = fmt::format("--seed {}", seed)});
  }
  const std::vector<const Parameter*> all = all_parameters(workload);
  const auto foreign = [&](std::size_t p) {
    return fail(Error{.code = ErrorCode::BadInput, .message = fmt::format("parameter {} of the checkpoint is not the workload's", p),
                      .where = {.file = path}, .hint = "resume with the plan it was written under"});
  };
  if (all.size() != parameters || out.states_ != workload.optimizer.states() || out.step_ < 0) return foreign(0);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const SectionView& section = sections[p + 1];
    const std::string head = head_of(*all[p]);
    const auto elements = static_cast<std::size_t>(all[p]->elements());
    const std::size_t copies = 1 + static_cast<std::size_t>(out.states_);
    if (section.bytes != head.size() + copies * elements * sizeof(float)) return foreign(p);
    std::string found(head.size(), '\0');
    PENSTOCK_TRY_VOID(out.file_.read(section.offset, found.data(), found.size()));
    if (found != head) return foreign(p);
    out.values_.push_back(section.offset + head.size());
    out.elements_.push_back(elements);
  }
  return out;
}

Result<Checkpoint> Checkpoint::load_latest(const std::string& path, const CheckpointIdentity& identity,
                                           const Workload& workload, std::string& warning) {
  auto latest = load(path, identity, workload);
  if (latest || latest.error().code != ErrorCode::BadInput) return latest;
  const std::string kept = previous_checkpoint(path);
  std::error_code ignored;
  if (!std::filesystem::exists(kept, ignored)) return latest;
  auto previous = load(kept, identity, workload);
  if (previous) {
    warning = fmt::format("{}; going on from {}, after {} steps", latest.error().text(), kept, previous->step());
    return previous;
  }
  if (previous.error().code != ErrorCode::BadInput) return previous;
  Error both = latest.error();
  both.hint = fmt::format("nor does the one before it serve: {}", previous.error().text());
  return fail(both);
}

Result<void> Checkpoint::restore(ParameterAccess& parameters) const {
  std::vector<float> values;
  for (std::size_t p = 0; p < values_.size(); ++p) {
    values.resize(elements_[p]);
    const std::size_t bytes = values.size() * sizeof(float);
    std::uint64_t at = values_[p];
    for (std::int32_t state = -1; state < states_; ++state, at += bytes) {
      PENSTOCK_TRY_VOID(file_.read(at, values.data(), bytes));
      parameters.write(p, state, values);
    }
  }
  return {};
}

}  // namespace penstock
