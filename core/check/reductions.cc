// R10 where a stage has copies: their gradients, cut into the buckets of groups, are added up before
// any of them is stepped; and where norms are gathered, after that and before STEP.

#include <algorithm>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

class Reductions {
 public:
  Reductions(const Program& program, const ProgramIndex& index, Report& report)
      : program_(program), index_(index), report_(report) {
    groups_.resize(index.stages);
    copies_.resize(index.stages);
    for (std::size_t g = 0; g < program.groups.size(); ++g)
      (program.groups[g].kind == GroupKind::Gradients ? groups_[program.groups[g].stage.index()]
                                                      : norms_)
          .push_back(static_cast<std::int32_t>(g));
    for (const ProgramStore& store : program.stores)
      if (store.kind == StoreKind::Trained) copies_[store.stage.index()].push_back(&store);
  }

  void check() {
    for (std::size_t stage = 0; stage < copies_.size() && !report_.full(); ++stage)
      if (!groups_[stage].empty() && make_up(stage))
        for (const ProgramStore* store : copies_[stage]) around(*store);
      else if (groups_[stage].empty() && copies_[stage].size() > 1 && has_gradients(stage))
        report_.add("R10",
                    fmt::format("stage {} has {} copies, but no group adds up their gradients",
                                stage, copies_[stage].size()),
                    members(stage));
    for (std::size_t r = 0; r < program_.ranks.size() && !norms_.empty(); ++r) gathers(r);
  }

 private:
  std::vector<RankId> members(std::size_t stage) const {
    std::vector<RankId> ranks;
    for (const ProgramStore* store : copies_[stage]) ranks.push_back(store->rank);
    return ranks;
  }

  // A schedule without a workload has no gradients in memory: nothing says what to add up.
  bool has_gradients(std::size_t stage) const {
    return std::any_of(program_.buffers.begin(), program_.buffers.end(), [&](const Buffer& b) {
      return b.cls == BufferClass::Gradients && b.stage == stage;
    });
  }

  // The groups of a stage: all its copies, in order, and buckets that make up the gradients.
  bool make_up(std::size_t stage) {
    std::vector<const ProgramStore*>& copies = copies_[stage];
    std::sort(copies.begin(), copies.end(),
              [](const auto* a, const auto* b) { return a->copy < b->copy; });
    std::vector<const Group*> buckets;
    for (const std::int32_t g : groups_[stage]) {
      buckets.push_back(&program_.groups[static_cast<std::size_t>(g)]);
      if (buckets.back()->ranks == members(stage)) continue;
      report_.add("R10",
                  fmt::format("group {} adds up gradients of {} ranks; stage {} has {} copies, on "
                              "other ranks or in another order",
                              g, buckets.back()->ranks.size(), stage, copies.size()),
                  members(stage));
      return false;
    }
    std::sort(buckets.begin(), buckets.end(),
              [](const Group* a, const Group* b) { return a->offset < b->offset; });
    Bytes end;
    std::int32_t parameter = 0, layer = 0;
    for (const Group* bucket : buckets) {
      if (bucket->offset != end) return refuse_buckets(stage, end);
      end += bucket->bytes;
      // Gradients lie in the order of their parameters, and those in the order of their layers.
      const bool in_order = bucket->first_parameter == parameter &&
                            bucket->end_parameter > parameter && bucket->first_layer >= layer;
      const std::int32_t layers = copies.empty() ? 0 : copies.front()->layers;
      if (!in_order || (layers > 0 && bucket->first_layer >= layers)) {
        report_.add("R10",
                    fmt::format("a group of stage {} adds up parameters {} to {} from layer {} on; "
                                "those before it end at parameter {} of layer {} or later",
                                stage, bucket->first_parameter, bucket->end_parameter - 1,
                                bucket->first_layer, parameter - 1, layer),
                    members(stage));
        return false;
      }
      parameter = bucket->end_parameter;
      layer = bucket->first_layer;
    }
    if (copies.empty() || parameter != copies.front()->parameters) {
      report_.add("R10",
                  fmt::format("the groups of stage {} end at parameter {}; its stores have {}", stage,
                              parameter - 1, copies.empty() ? 0 : copies.front()->parameters),
                  members(stage));
      return false;
    }
    for (const ProgramStore* store : copies) {
      const auto rows = program_.buffers_of(store->rank);
      if (std::none_of(rows.begin(), rows.end(), [&](const Buffer& row) {
            return row.cls == BufferClass::Gradients && row.stage == stage && row.bytes == end;
          }))
        return refuse_buckets(stage, end);
    }
    return true;
  }
  bool refuse_buckets(std::size_t stage, Bytes end) {
    report_.add("R10",
                fmt::format("the groups of stage {} do not make up its gradients: they have a gap "
                            "or an overlap, or end, at byte {}",
                            stage, end.value),
                members(stage));
    return false;
  }

  // Each bucket once, after the backward that completes it and before STEP.
  void around(const ProgramStore& store) {
    const std::size_t rank = store.rank.index();
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    const std::uint32_t step = find_step(rank, store.stage);
    if (step == kAbsent) return;  // R10 has said so
    for (const std::int32_t g : groups_[store.stage.index()]) {
      std::size_t calls = 0;
      for (std::uint32_t s = 0; s < streams.size(); ++s)
        for (std::uint32_t i = 0; i < streams[s].body.size(); ++i) {
          const Instruction& call = streams[s].body[i];
          if (!is_collective(call.key.op) || call.target != g) continue;
          ++calls;
          const std::uint32_t made = completes(store, program_.groups[static_cast<std::size_t>(g)]);
          if (starts_after(rank, s, i) < made || made == kAbsent)
            refuse(rank, fmt::format("'{}' may start before '{}', which makes what it adds up",
                                     brief(call), named(rank, made)));
          if (call.key.op != Op::AllReduce || !ends_before(rank, s, i, step))
            refuse(rank, fmt::format("'{}' is not sure to be over when '{}' reads what it adds up",
                                     brief(call), named(rank, step)));
        }
      if (calls != 1)
        refuse(rank, fmt::format("group {} adds up gradients of stage {} {} times a step", g,
                                 store.stage.value, calls));
    }
  }

  void gathers(std::size_t rank) {
    const std::vector<Instruction>& compute = program_.ranks[rank].streams[0].body;
    const std::int32_t g = norms_.front();
    const std::vector<RankId>& ranks = program_.groups[static_cast<std::size_t>(g)].ranks;
    if (norms_.size() > 1 || ranks.size() != program_.ranks.size())
      return refuse(rank, "norms are of all gradients: one group of all ranks gathers them");
    std::int64_t parameters = 0;
    for (const ProgramStore& store : program_.stores)
      if (store.kind == StoreKind::Trained && store.copy == 0) parameters += store.parameters;
    const std::int64_t bytes = program_.groups[static_cast<std::size_t>(g)].bytes.value;
    if (bytes != parameters * static_cast<std::int64_t>(sizeof(double)))
      return refuse(rank, fmt::format("norms of {} parameters, 8 bytes each, are not the {} bytes "
                                      "that group {} gathers",
                                      parameters, bytes, g));
    std::uint32_t gather = kAbsent;
    for (std::uint32_t i = 0; i < compute.size(); ++i)
      if (compute[i].key.op == Op::Gather && compute[i].target == g) gather = i;
    for (std::uint32_t i = 0; i < compute.size(); ++i)
      if (compute[i].key.op == Op::Step && (gather == kAbsent || gather > i))
        refuse(rank, fmt::format("'{}' is clipped by norms that have not been gathered",
                                 brief(compute[i])));
    if (gather == kAbsent) return;
    for (std::uint32_t i = gather; i < compute.size(); ++i)
      if (is_backward(compute[i].key.op) || compute[i].key.op == Op::W)
        refuse(rank, fmt::format("'{}' adds to gradients whose norm '{}' has gathered",
                                 brief(compute[i]), brief(compute[gather])));
    const std::vector<Stream>& streams = program_.ranks[rank].streams;
    for (std::uint32_t s = 0; s < streams.size(); ++s)
      for (std::uint32_t i = 0; i < streams[s].body.size(); ++i)
        if (is_collective(streams[s].body[i].key.op) && streams[s].body[i].key.op != Op::Gather &&
            !ends_before(rank, s, i, gather))
          refuse(rank, fmt::format("'{}' is not sure to be over when '{}' takes norms",
                                   brief(streams[s].body[i]), brief(compute[gather])));
  }

  std::uint32_t find_step(std::size_t rank, StageId stage) const {
    const std::vector<Instruction>& compute = program_.ranks[rank].streams[0].body;
    for (std::uint32_t i = 0; i < compute.size(); ++i)
      if (compute[i].key.op == Op::Step && compute[i].key.stage == stage.index()) return i;
    return kAbsent;
  }

  // The position in the compute stream at which a bucket holds all gradients of this copy.
  std::uint32_t completes(const ProgramStore& store, const Group& group) const {
    const std::vector<Instruction>& compute = program_.ranks[store.rank.index()].streams[0].body;
    std::uint32_t last = kAbsent;
    for (std::uint32_t i = 0; i < compute.size(); ++i) {
      const Instruction& instruction = compute[i];
      if (instruction.key.stage != store.stage.index() ||
          (instruction.key.op != Op::BF && instruction.key.op != Op::W))
        continue;
      const bool below =
          program_.is_part(instruction) &&
          program_.recipes[static_cast<std::size_t>(instruction.recipe)].segments.front().end_layer <=
              group.first_layer;
      if (!below) last = i;  // parts of lower layers add nothing to the bucket
    }
    return last;
  }

  // The latest position of the compute stream that is over when an instruction starts; none: none.
  std::uint32_t starts_after(std::size_t rank, std::uint32_t stream, std::uint32_t index) const {
    const std::vector<Instruction>& body = program_.ranks[rank].streams[stream].body;
    if (stream == 0) return index == 0 ? 0 : index - 1;
    std::uint32_t after = 0;
    for (std::uint32_t i = 0; i <= index; ++i)
      if (body[i].after_stream == 0) after = std::max(after, body[i].after_index);
    return after;
  }

  bool ends_before(std::size_t rank, std::uint32_t stream, std::uint32_t index,
                   std::uint32_t position) const {
    const std::vector<Instruction>& compute = program_.ranks[rank].streams[0].body;
    if (stream == 0) return index < position;
    for (std::uint32_t i = 0; i <= position; ++i)
      if (compute[i].after_stream == static_cast<std::int16_t>(stream) &&
          compute[i].after_index >= index)
        return true;
    return false;
  }

  std::string named(std::size_t rank, std::uint32_t position) const {
    return position == kAbsent ? "a backward that is not there"
                               : brief(program_.ranks[rank].streams[0].body[position]);
  }
  void refuse(std::size_t rank, const std::string& message) {
    report_.add("R10", fmt::format("rank {}: {}", rank, message), {rank_id(rank)});
  }

  const Program& program_;
  const ProgramIndex& index_;
  Report& report_;
  std::vector<std::vector<std::int32_t>> groups_;           // by stage: of its gradients
  std::vector<std::vector<const ProgramStore*>> copies_;    // by stage
  std::vector<std::int32_t> norms_;
};

}  // namespace

void check_reductions(const Program& program, const ProgramIndex& index, Report& report) {
  Reductions(program, index, report).check();
}

}  // namespace penstock::check_rules
