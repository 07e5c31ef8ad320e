// R8 of weights, gradients, optimizer state, norms and workspace: who has them, once each, and how
// large they are beside each other; and whether a program may be without buffers at all.

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

class Persistent {
 public:
  Persistent(const Program& program, Report& report) : program_(program), report_(report) {
    rows_.resize(program.stores.size());
  }

  void check() {
    if (!may_be_absent()) return;
    for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
      tables_.fill(nullptr);
      for (const Buffer& row : program_.buffers_of(rank_id(r)))
        if (is_persistent(row.cls)) place(r, row);
      if (tables_[kNorms] == nullptr && gathers(r))
        refuse(r, "gathers norms, and has no buffer for them");
    }
    for (std::size_t i = 0; i < rows_.size() && !report_.full(); ++i) store(i);
  }

 private:
  using Rows = std::array<const Buffer*, 3>;  // Weights, Gradients, Optimizer
  static constexpr std::size_t kNorms = 0, kWorkspace = 1;

  // Where nothing says what is kept, as in a schedule without a workload, memory is no claim of the
  // program. Where something does, its rows cannot be left out.
  bool may_be_absent() {
    if (!program_.buffers.empty()) return true;
    std::string_view told;
    if (!program_.groups.empty()) told = "collectives, which add up what buffers hold";
    for (const ProgramStore& store : program_.stores)
      if (store.parameters > 0) told = "stores with parameters";
    if (told.empty()) return true;
    report_.add("R8", fmt::format("the program has no buffers, but {}", told));
    return false;
  }

  void place(std::size_t rank, const Buffer& row) {
    const std::string what = fmt::format("the {} buffer of stage {}",
                                         enum_names(row.cls)[static_cast<std::size_t>(row.cls)].second,
                                         row.stage);
    if (row.microbatch != -1 || row.slice != 0)
      return refuse(rank, fmt::format("{} is of microbatch {}, slice {}; it is of none", what,
                                      row.microbatch, row.slice));
    const Buffer** at = nullptr;
    if (row.cls == BufferClass::Norms || row.cls == BufferClass::Workspace) {
      if (row.owner != -1)
        return refuse(rank, fmt::format("{} has an owner, {}; it is the rank's own", what, row.owner));
      at = &tables_[row.cls == BufferClass::Norms ? kNorms : kWorkspace];
      if (row.cls == BufferClass::Norms && !holds_norms(rank, row)) return;
    } else {
      const auto owner = static_cast<std::size_t>(row.owner);
      if (row.owner < 0 || owner >= program_.stores.size() ||
          program_.stores[owner].rank.index() != rank ||
          program_.stores[owner].stage.index() != row.stage)
        return refuse(rank, fmt::format("{} is owned by {}, which is no store of that stage here",
                                        what, row.owner));
      at = &rows_[owner][static_cast<std::size_t>(row.cls)];
    }
    if (*at != nullptr) return refuse(rank, what + " is there twice");
    *at = &row;
  }

  bool gathers(std::size_t rank) const {
    const auto& body = program_.ranks[rank].streams[0].body;
    return std::any_of(body.begin(), body.end(),
                       [](const Instruction& i) { return i.key.op == Op::Gather; });
  }

  // All squared norms, 8 bytes a parameter.
  bool holds_norms(std::size_t rank, const Buffer& row) {
    for (const Group& group : program_.groups) {
      if (group.kind != GroupKind::GradientNorm || group.bytes == row.bytes) continue;
      refuse(rank, fmt::format("its buffer of norms has {} bytes; {} are gathered", row.bytes.value,
                               group.bytes.value));
      return false;
    }
    return true;
  }

  void store(std::size_t i) {
    const ProgramStore& store = program_.stores[i];
    const auto& [weights, gradients, optimizer] = rows_[i];
    const auto bytes = [](const Buffer* row) {
      return row == nullptr ? std::int64_t{0} : row->bytes.value;
    };
    const std::string who = fmt::format("store {} (stage {})", i, store.stage.value);
    const std::size_t rank = store.rank.index();
    const bool trained = store.kind == StoreKind::Trained;
    if (!program_.buffers.empty() && bytes(weights) < store.parameters * kTensorAlignment)
      refuse(rank, fmt::format("{} has {} parameters on 64-byte boundaries, in {} bytes of weights",
                               who, store.parameters, bytes(weights)));
    if (bytes(gradients) != (trained ? bytes(weights) : 0))
      refuse(rank, fmt::format("{} has {} bytes of weights and {} of gradients", who, bytes(weights),
                               bytes(gradients)));
    if (bytes(optimizer) != 0 &&
        (!trained || bytes(weights) == 0 || bytes(optimizer) % bytes(weights) != 0))
      return refuse(rank, fmt::format("{} has {} bytes of weights and {} of optimizer state, which "
                                      "is no multiple",
                                      who, bytes(weights), bytes(optimizer)));
    if (trained && bytes(weights) > 0) {
      const std::int64_t states = bytes(optimizer) / bytes(weights);
      if (states_ < 0) states_ = states;
      if (states != states_)
        refuse(rank, fmt::format("{} has {} states of the optimizer for each weight; others have {}",
                                 who, states, states_));
    }
    const std::int64_t first = weights_.emplace(store.stage, bytes(weights)).first->second;
    if (first != bytes(weights))
      refuse(rank, fmt::format("{} has {} bytes of weights; another copy has {}", who,
                               bytes(weights), first));
  }

  void refuse(std::size_t rank, const std::string& what) {
    report_.add("R8", fmt::format("rank {}: {}", rank, what), {rank_id(rank)});
  }

  const Program& program_;
  Report& report_;
  std::vector<Rows> rows_;               // by store
  std::map<StageId, std::int64_t> weights_;  // bytes of the first store of each stage
  std::array<const Buffer*, 2> tables_{};  // of the rank at hand: norms, workspace
  std::int64_t states_ = -1;             // of the optimizer, as the first store has them
};

}  // namespace

void check_persistent(const Program& program, Report& report) {
  Persistent(program, report).check();
}

}  // namespace penstock::check_rules
