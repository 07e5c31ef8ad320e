// R5, R7a, R7b: the streams as automata. Each runs its instructions in order; none blocks but for
// an `after`, a message, a collective. Which stream moves first makes no difference to how far all
// of them come (a Kahn network), so one run decides.

#include <algorithm>

#include <fmt/format.h>

#include "core/check/program_index.h"

namespace penstock::check_rules {
namespace {

constexpr std::int32_t kNobody = -1;
constexpr std::size_t kLongestStory =
    12;  // hops told of a cycle; all of it is in Violation::instructions

// What a stream that cannot go on needs: that `stream` gets past instruction `index` (counted over
// its three sections). stream kNobody: nothing will ever do.
struct Need {
  std::int32_t stream = kNobody;
  std::size_t index = 0;
};

class Automata {
 public:
  Automata(const Program& program, bool rendezvous) : program_(program), rendezvous_(rendezvous) {
    edges_.resize(program.edges.size());
    groups_.resize(program.groups.size());
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      first_stream_.push_back(streams_.size());
      for (std::size_t s = 0; s < program.ranks[r].streams.size(); ++s) {
        const auto id = static_cast<std::int32_t>(streams_.size());
        streams_.push_back({&program.ranks[r].streams[s],
                            static_cast<std::int32_t>(r),
                            static_cast<std::int32_t>(s),
                            {},
                            {}});
        State& state = streams_.back();
        const Stream& stream = *state.stream;
        state.size = stream.prologue.size() + stream.body.size() + stream.epilogue.size();
        for (std::size_t i = 0; i < state.size; ++i) {
          const Instruction& instruction = at(state, i);
          const auto target = static_cast<std::size_t>(instruction.target);
          if (instruction.key.op == Op::Send)
            ++edges_[target].send.total, edges_[target].send.stream = id;
          if (instruction.key.op == Op::Recv)
            ++edges_[target].receive.total, edges_[target].receive.stream = id;
        }
      }
    }
    for (std::size_t g = 0; g < groups_.size(); ++g)
      groups_[g].arrived.assign(program.groups[g].ranks.size(), 0);
  }

  bool run() {
    for (std::size_t i = streams_.size(); i-- > 0;) ready_.push_back(static_cast<std::int32_t>(i));
    while (!ready_.empty()) {
      const std::int32_t id = ready_.back();
      ready_.pop_back();
      streams_[static_cast<std::size_t>(id)].queued = false;
      advance(id);
    }
    return std::all_of(streams_.begin(), streams_.end(),
                       [](const State& s) { return s.next == s.size; });
  }

  void tell(Report& report) const;

 private:
  struct State {
    const Stream* stream;
    std::int32_t rank, index;
    std::vector<std::size_t>
        ordinals;  // of the posted transfers [next, next + size): which message of their edge
    std::vector<std::int32_t> waiting;  // streams to wake when this one moves
    std::size_t size = 0, next = 0;
    bool queued = true;
  };
  struct End {
    std::int32_t stream = kNobody;  // the stream that serves it
    std::size_t total = 0, posted = 0;
    std::int32_t waiting = kNobody;  // stream at the other end that waits for the next post
  };
  struct Edge {
    End send, receive;
  };
  struct Collective {
    std::vector<std::size_t> arrived;  // by member: how many calls it has reached
    std::vector<std::int32_t> waiting;
  };

  static const Instruction& at(const State& state, std::size_t i) {
    const Stream& s = *state.stream;
    if (i < s.prologue.size()) return s.prologue[i];
    i -= s.prologue.size();
    return i < s.body.size() ? s.body[i] : s.epilogue[i - s.body.size()];
  }

  // `after` counts within the section of the instruction that has it.
  Need after(const State& state, std::size_t i) const {
    const Instruction& instruction = at(state, i);
    if (instruction.after_stream < 0) return {};
    const std::size_t id = first_stream_[static_cast<std::size_t>(state.rank)] +
                           static_cast<std::size_t>(instruction.after_stream);
    const Stream& target = *streams_[id].stream;
    std::size_t index = instruction.after_index;
    if (i >= state.stream->prologue.size()) index += target.prologue.size();
    if (i >= state.stream->prologue.size() + state.stream->body.size()) index += target.body.size();
    return {static_cast<std::int32_t>(id), index};
  }

  std::size_t group_end(const State& state) const {
    const std::uint16_t group = at(state, state.next).group;
    std::size_t end = state.next + 1;
    if (group != 0)
      while (end < state.size && at(state, end).group == group &&
             is_transfer(at(state, end).key.op))
        ++end;
    return end;
  }

  void wake(std::int32_t id) {
    if (id == kNobody || std::exchange(streams_[static_cast<std::size_t>(id)].queued, true)) return;
    ready_.push_back(id);
  }

  bool is_past(const Need& need) const {
    return streams_[static_cast<std::size_t>(need.stream)].next > need.index;
  }

  void advance(std::int32_t id) {
    State& state = streams_[static_cast<std::size_t>(id)];
    const std::size_t from = state.next;
    while (state.next < state.size && pass(id, state)) {
    }
    if (state.next == from) return;
    for (const std::int32_t other : state.waiting) wake(other);
    state.waiting.clear();
  }

  // Tries to get past the next instruction, or the next group of transfers.
  bool pass(std::int32_t id, State& state) {
    const Instruction& instruction = at(state, state.next);
    const bool transfers = is_transfer(instruction.key.op);
    const std::size_t end = transfers ? group_end(state) : state.next + 1;
    if (state.ordinals.empty()) {
      for (std::size_t i = state.next; i < end; ++i) {
        const Need need = after(state, i);
        if (need.stream == kNobody || is_past(need)) continue;
        streams_[static_cast<std::size_t>(need.stream)].waiting.push_back(id);
        return false;
      }
      if (transfers)
        for (std::size_t i = state.next; i < end; ++i) post(state, at(state, i));
      else if (is_collective(instruction.key.op))
        arrive(state, instruction);
    }
    if (transfers) {
      for (std::size_t i = state.next; i < end; ++i)
        if (!is_met(id, at(state, i), state.ordinals[i - state.next])) return false;
    } else if (is_collective(instruction.key.op)) {
      Collective& group = groups_[static_cast<std::size_t>(instruction.target)];
      if (*std::min_element(group.arrived.begin(), group.arrived.end()) < state.ordinals.front()) {
        group.waiting.push_back(id);
        return false;
      }
    }
    state.ordinals.clear();
    state.next = end;
    return true;
  }

  void post(State& state, const Instruction& instruction) {
    Edge& edge = edges_[static_cast<std::size_t>(instruction.target)];
    End& end = instruction.key.op == Op::Send ? edge.send : edge.receive;
    state.ordinals.push_back(end.posted++);
    wake(std::exchange(end.waiting, kNobody));
  }

  bool is_met(std::int32_t id, const Instruction& instruction, std::size_t ordinal) {
    Edge& edge = edges_[static_cast<std::size_t>(instruction.target)];
    if (instruction.key.op == Op::Send && !rendezvous_) return true;
    End& other = instruction.key.op == Op::Send ? edge.receive : edge.send;
    if (other.posted > ordinal) return true;
    other.waiting = id;
    return false;
  }

  void arrive(State& state, const Instruction& instruction) {
    Collective& group = groups_[static_cast<std::size_t>(instruction.target)];
    const std::vector<RankId>& ranks =
        program_.groups[static_cast<std::size_t>(instruction.target)].ranks;
    const auto member = std::find(ranks.begin(), ranks.end(), RankId(state.rank)) - ranks.begin();
    if (member == static_cast<std::ptrdiff_t>(ranks.size())) {
      state.ordinals.push_back(0);  // R6 has said that it does not belong there
      return;
    }
    state.ordinals.push_back(++group.arrived[static_cast<std::size_t>(member)]);
    for (const std::int32_t other : group.waiting) wake(other);
    group.waiting.clear();
  }

  // The instruction that the blocked stream stands at, and what would let it go on.
  std::pair<std::size_t, Need> need_of(const State& state) const;
  Need message(const State& state, std::size_t i) const;
  std::string place(const State& state, std::size_t i) const {
    return fmt::format("rank {}'s {}", state.rank, brief(at(state, i)));
  }

  const Program& program_;
  const bool rendezvous_;
  std::vector<State> streams_;
  std::vector<std::size_t> first_stream_;  // by rank
  std::vector<Edge> edges_;
  std::vector<Collective> groups_;
  std::vector<std::int32_t> ready_;
};

Need Automata::message(const State& state, std::size_t i) const {
  const Instruction& instruction = at(state, i);
  const Edge& edge = edges_[static_cast<std::size_t>(instruction.target)];
  const bool sends = instruction.key.op == Op::Send;
  const End& other = sends ? edge.receive : edge.send;
  const std::size_t ordinal = state.ordinals[i - state.next];
  if (ordinal >= other.total) return {};
  // The ordinal-th of the other end: its stream has posted `other.posted` of them and stands before
  // the rest.
  const State& peer = streams_[static_cast<std::size_t>(other.stream)];
  std::size_t left = ordinal - other.posted;
  for (std::size_t k = peer.next; k < peer.size; ++k) {
    const Instruction& candidate = at(peer, k);
    if (candidate.key.op != (sends ? Op::Recv : Op::Send) || candidate.target != instruction.target)
      continue;
    if (left-- == 0) return {other.stream, k};
  }
  return {};
}

std::pair<std::size_t, Need> Automata::need_of(const State& state) const {
  const Instruction& instruction = at(state, state.next);
  const std::size_t end = is_transfer(instruction.key.op) ? group_end(state) : state.next + 1;
  if (state.ordinals.empty()) {
    for (std::size_t i = state.next; i < end; ++i) {
      const Need need = after(state, i);
      if (need.stream != kNobody && !is_past(need)) return {i, need};
    }
  }
  if (is_transfer(instruction.key.op)) {
    for (std::size_t i = state.next; i < end; ++i) {
      const Edge& edge = edges_[static_cast<std::size_t>(at(state, i).target)];
      const bool sends = at(state, i).key.op == Op::Send;
      if (sends && !rendezvous_) continue;
      if ((sends ? edge.receive : edge.send).posted <= state.ordinals[i - state.next])
        return {i, message(state, i)};
    }
  }
  if (is_collective(instruction.key.op)) {
    const auto g = static_cast<std::size_t>(instruction.target);
    for (std::size_t m = 0; m < groups_[g].arrived.size(); ++m) {
      if (groups_[g].arrived[m] >= state.ordinals.front()) continue;
      const std::size_t rank = program_.groups[g].ranks[m].index();
      for (std::size_t id = first_stream_[rank];
           id < streams_.size() && streams_[id].rank == static_cast<std::int32_t>(rank); ++id)
        for (std::size_t k = streams_[id].next; k < streams_[id].size; ++k)
          if (is_collective(at(streams_[id], k).key.op) &&
              at(streams_[id], k).target == instruction.target)
            return {state.next, {static_cast<std::int32_t>(id), k}};
      break;
    }
  }
  return {state.next, {}};
}

// From the first blocked stream along what each waits for, until a stream comes twice (a cycle,
// told from there) or what is waited for can never come (told from the start).
void Automata::tell(Report& report) const {
  struct Hop {
    std::int32_t stream;
    std::size_t at;
    Need need;
  };
  std::vector<Hop> hops;
  std::vector<std::size_t> visited(streams_.size(), 0);  // 1 + position in hops
  std::int32_t id = 0;
  while (streams_[static_cast<std::size_t>(id)].next == streams_[static_cast<std::size_t>(id)].size)
    ++id;
  while (id != kNobody && visited[static_cast<std::size_t>(id)] == 0) {
    const auto [at, need] = need_of(streams_[static_cast<std::size_t>(id)]);
    hops.push_back({id, at, need});
    visited[static_cast<std::size_t>(id)] = hops.size();
    id = need.stream;
  }
  const bool cycle = id != kNobody;
  if (cycle)
    hops.erase(
        hops.begin(),
        hops.begin() + static_cast<std::ptrdiff_t>(visited[static_cast<std::size_t>(id)]) - 1);

  const auto state = [&](const Hop& hop) -> const State& {
    return streams_[static_cast<std::size_t>(hop.stream)];
  };
  std::string story = fmt::format("rank {} at {}", state(hops.front()).rank,
                                  brief(at(state(hops.front()), hops.front().at)));
  std::vector<RankId> ranks;
  std::vector<std::string> instructions;
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const Hop& hop = hops[h];
    if (std::find(ranks.begin(), ranks.end(), RankId(state(hop).rank)) == ranks.end())
      ranks.push_back(RankId(state(hop).rank));
    instructions.push_back(
        fmt::format("rank {}: {}", state(hop).rank, brief(at(state(hop), hop.at))));
    const bool last = h + 1 == hops.size();
    if (h >= kLongestStory && !last) continue;
    if (h > kLongestStory)
      story += fmt::format(" waits in turn through {} more until {}", h - kLongestStory,
                           place(state(hop), hop.at));
    if (hop.need.stream == kNobody) {
      const bool sends = at(state(hop), hop.at).key.op == Op::Send;
      story += is_transfer(at(state(hop), hop.at).key.op)
                   ? fmt::format(" waits for a {} that no rank has", sends ? "RECV" : "SEND")
                   : std::string(" waits for what no rank has");
      break;
    }
    const State& target = streams_[static_cast<std::size_t>(hop.need.stream)];
    story += fmt::format(" waits for {}", place(target, hop.need.index));
    const Hop& following = hops[last ? 0 : h + 1];
    if (following.at != hop.need.index)
      story += fmt::format(", which comes after {}", place(target, following.at));
    story += !last ? ", which" : hops.size() > 1 ? ", where we began" : ": itself";
  }
  const std::string_view rule = rendezvous_ ? "R7b" : cycle ? "R5" : "R7a";
  const std::string_view how =
      rendezvous_ ? "with sends that complete when they are received" : "even with buffered sends";
  report.add(rule, fmt::format("the program hangs {}: {}", how, story), std::move(ranks),
             std::move(instructions));
}

}  // namespace

bool check_progress(const Program& program, bool rendezvous, Report& report) {
  Automata automata(program, rendezvous);
  if (automata.run()) return true;
  automata.tell(report);
  return false;
}

}  // namespace penstock::check_rules
