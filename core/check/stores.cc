// The stores of a stage, held against each other: copies of one thing.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

class Stores {
 public:
  Stores(const Program& program, Report& report) : program_(program), report_(report) {
    for (std::size_t i = 0; i < program.stores.size(); ++i)
      of_stage_[program.stores[i].stage].push_back(i);
  }

  void check() {
    for (std::size_t i = 0; i < program_.stores.size() && !report_.full(); ++i) kept(i);
    for (auto& [stage, stores] : of_stage_)
      if (!report_.full()) copies(stage.index(), stores);
  }

 private:
  static constexpr std::int64_t kMostNetwork = 255;  // InstructionKey::network

  void kept(std::size_t i) {
    const ProgramStore& store = program_.stores[i];
    if (store.versions != 1)
      refuse(i, fmt::format("keeps {} versions; only programs that keep one of each can be proved",
                            store.versions));
    if (store.shards != 1)
      refuse(i, fmt::format("is cut into {} shards, and no group makes it whole", store.shards));
    if (store.parameters < 0) refuse(i, fmt::format("has {} parameters", store.parameters));
    if (store.network.value < 0 || store.network.value > kMostNetwork)
      refuse(i, fmt::format("is of network {}, which no instruction can name", store.network.value));
  }

  void copies(std::size_t stage, std::vector<std::size_t>& stores) {
    std::sort(stores.begin(), stores.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(program_.stores[a].copy, a) < std::pair(program_.stores[b].copy, b);
    });
    for (std::size_t k = 0; k < stores.size(); ++k) {
      const ProgramStore &store = program_.stores[stores[k]],
                         &first = program_.stores[stores.front()];
      const auto copy = static_cast<std::int32_t>(k);
      if (store.copy != copy)
        return refuse(stores[k],
                      fmt::format("is copy {} of stage {}; its copies count from 0, each once, and "
                                  "this is the one after {} of them",
                                  store.copy, stage, k));
      const std::string_view differs = store.network != first.network         ? "network"
                                       : store.kind != first.kind             ? "kind"
                                       : store.layers != first.layers         ? "number of layers"
                                       : store.parameters != first.parameters ? "number of parameters"
                                                                              : "";
      if (!differs.empty())
        refuse(stores[k], fmt::format("has another {} than store {}, of the same stage", differs,
                                      stores.front()));
      if (store.kind != StoreKind::Trained) continue;
      if (store.accumulation != first.accumulation)
        refuse_tree(stores[k], stage,
                    fmt::format("is not that of store {}, of the same stage", stores.front()));
      else if (store.accumulation.copies.size() > stores.size())
        refuse_tree(stores[k], stage,
                    fmt::format("lists {} copies; the stage has {}",
                                store.accumulation.copies.size(), stores.size()));
    }
  }

  void refuse(std::size_t store, const std::string& what) {
    report_.add("stores", fmt::format("store {} {}", store, what), {program_.stores[store].rank});
  }
  void refuse_tree(std::size_t store, std::size_t stage, const std::string& what) {
    report_.add("R12",
                fmt::format("the accumulation tree of store {} (stage {}) {}", store, stage, what),
                {program_.stores[store].rank});
  }

  const Program& program_;
  Report& report_;
  std::map<StageId, std::vector<std::size_t>> of_stage_;
};

}  // namespace

void check_stores(const Program& program, Report& report) {
  Stores(program, report).check();
}

}  // namespace penstock::check_rules
