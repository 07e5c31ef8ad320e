#include "sim/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/lanes.h"
#include "sim/engine_state.h"
#include "sim/event_queue.h"
#include "sim/examine.h"
#include "sim/host_sharing.h"
#include "sim/memory.h"
#include "sim/stall.h"
#include "sim/time_guard.h"

namespace penstock {
namespace {

// Steps are numbered by 32 bits, and an instruction may add 16 bits' worth of its own.
constexpr std::int64_t kMostSteps = std::numeric_limits<std::int32_t>::max() - 65536;
constexpr std::uint64_t kMostSpans = std::uint64_t{1} << 26;  // 3 GiB of them

class Engine {
 public:
  Engine(const Program& program, const EngineOptions& options)
      : program_(program), options_(options) {}

  Result<EngineResult> run() {
    PENSTOCK_TRY_VOID(prepare());
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      leave_section(streams_[s]);
      ready_.push_back(static_cast<std::uint32_t>(streams_.size()) - 1 - s);
    }
    while (true) {
      while (!ready_.empty()) {
        const std::uint32_t stream = ready_.back();
        ready_.pop_back();
        advance(stream);
      }
      if (queue_.empty()) break;
      const Event event = queue_.pop();
      now_ = event.time;
      if (event.subject < streams_.size()) {
        leave(event.subject);
      } else {
        for (const std::uint32_t owner : sharing_->end(event)) leave(owner);
      }
    }
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      if (!streams_[s].finished())
        return fail(stall(program_, streams_, edges_, groups_, s, now_));
    }
    return report();
  }

 private:
  Result<void> prepare();
  EngineResult report();

  // From the end of a section to the next instruction there is: of the next repetition or of a
  // later section.
  void leave_section(StreamState& s) {
    while (!s.finished() && s.index == s.sections[s.section]->size()) {
      s.index = 0;
      if (s.section == 1 && !s.sections[1]->empty() && s.repetition + 1 < repetitions_) {
        ++s.repetition;
        return;
      }
      ++s.section;
    }
    if (s.number == 0 && s.section != 1 && !memory_.empty()) hold(s.rank, memory_[s.rank].always);
  }

  // Instructions of one stream until one takes time or has to wait.
  void advance(std::uint32_t number) {
    StreamState& s = streams_[number];
    while (!s.finished()) {
      const Instruction& instruction = s.current();
      if (!s.is_reached) {
        s.is_reached = true;
        if (s.number == 0 && s.section == 1 && !memory_.empty())
          hold(s.rank, memory_[s.rank].at[s.index]);
        if (instruction.after_stream >= 0 && must_wait(s, number, instruction)) return;
      }
      s.start = now_;
      if (instruction.key.op == Op::Send) {
        if (!send(s, instruction)) return;
      } else if (instruction.key.op == Op::Recv) {
        if (!receive(s, number, instruction)) return;
      } else if (is_collective(instruction.key.op)) {
        return meet(number, instruction);
      } else if (instruction.key.op != Op::Wait) {
        const Nanoseconds duration = duration_of(instruction);
        if (duration.value > 0) return last(instruction, number, s.rank, true);
      }
      finish(s);
    }
  }

  bool must_wait(StreamState& s, std::uint32_t number, const Instruction& instruction) {
    StreamState& other =
        streams_[number - s.number + static_cast<std::uint32_t>(instruction.after_stream)];
    s.waits_until = other.position(s.section, s.repetition, repetitions_, instruction.after_index) + 1;
    if (other.done >= s.waits_until) return false;
    s.next_waiter = other.first_waiter;
    other.first_waiter = number;
    return true;
  }

  // What `owner` does takes the time of `instruction` from now on; or longer, if all of it is done on the host of `rank` and
  // its ranks slow one another down. Owners: streams; behind them edges, whose transfers end two streams.
  void last(const Instruction& instruction, std::uint32_t owner, std::size_t rank, bool is_local) {
    const Nanoseconds duration = duration_of(instruction);
    if (sharing_ && is_local && duration.value > 0) {
      sharing_->begin(rank, static_cast<std::size_t>(instruction.recipe), owner, now_);
    } else if (owner < streams_.size()) {
      queue_.push(now_ + duration, owner);
    } else {
      const EdgeState& edge = edges_[owner - streams_.size()];
      queue_.push(now_ + duration, edge.sender);
      queue_.push(now_ + duration, edge.receiver);
    }
  }

  // What `owner` did is over.
  void leave(std::uint32_t owner) {
    if (owner >= streams_.size()) {
      const EdgeState& edge = edges_[owner - streams_.size()];
      leave(edge.sender);
      return leave(edge.receiver);
    }
    finish(streams_[owner]);
    ready_.push_back(owner);
  }

  // The current instruction of `s` is over: notes it, lets go who waited for it, and moves on.
  void finish(StreamState& s) {
    const Instruction& instruction = s.current();
    if (instruction.key.op != Op::Wait) note(s, instruction);
    ++s.done;
    ++s.index;
    s.is_reached = false;
    if (s.index == s.sections[s.section]->size()) leave_section(s);
    std::uint32_t* link = &s.first_waiter;
    while (*link != kNoStream) {
      StreamState& waiter = streams_[*link];
      if (waiter.waits_until <= s.done) {
        ready_.push_back(*link);
        *link = waiter.next_waiter;
      } else {
        link = &waiter.next_waiter;
      }
    }
  }

  // True if the SEND is over at once.
  bool send(StreamState& s, const Instruction& instruction) {
    EdgeState& edge = edges_[static_cast<std::size_t>(instruction.target)];
    const Nanoseconds duration = duration_of(instruction);
    if (options_.discipline == Discipline::Eager) {
      const Message message{now_, now_ + duration, s.next_span};
      if (edge.receiver_waits) {
        edge.receiver_waits = false;
        take(streams_[edge.receiver], message);
        queue_.push(message.arrival, edge.receiver);
      } else {
        edge.posted.push_back(message);
      }
      return true;
    }
    edge.sender_waits = true;
    if (edge.receiver_waits) start_transfer(edge, instruction);
    return false;
  }

  // True if the RECV is over at once.
  bool receive(StreamState& s, std::uint32_t number, const Instruction& instruction) {
    EdgeState& edge = edges_[static_cast<std::size_t>(instruction.target)];
    if (options_.discipline == Discipline::Eager && edge.next < edge.posted.size()) {
      const Message message = edge.posted[edge.next++];
      if (edge.next == edge.posted.size()) {
        edge.posted.clear();
        edge.next = 0;
      }
      take(s, message);
      if (message.arrival <= now_) return true;
      queue_.push(message.arrival, number);
      return false;
    }
    edge.receiver_waits = true;
    if (edge.sender_waits) start_transfer(edge, streams_[edge.sender].current());
    return false;
  }

  void take(StreamState& receiver, const Message& message) {
    receiver.start = std::max(receiver.start, message.posted);
    link(message.span, receiver.next_span);
  }

  void start_transfer(EdgeState& edge, const Instruction& instruction) {
    edge.sender_waits = edge.receiver_waits = false;
    streams_[edge.sender].start = streams_[edge.receiver].start = now_;
    link(streams_[edge.sender].next_span, streams_[edge.receiver].next_span);
    const auto owner = streams_.size() + static_cast<std::size_t>(&edge - edges_.data());
    const std::uint32_t rank = streams_[edge.receiver].rank;
    last(instruction, static_cast<std::uint32_t>(owner), rank,
         sharing_ && sharing_->share(rank, streams_[edge.sender].rank));
  }

  // A member of a group has reached its call; the last one starts it for all.
  void meet(std::uint32_t number, const Instruction& instruction) {
    GroupState& group = groups_[static_cast<std::size_t>(instruction.target)];
    group.arrived.push_back(number);
    if (group.arrived.size() < group.callers.size()) return;
    for (const std::uint32_t member : group.arrived) {
      streams_[member].start = now_;
      last(streams_[member].current(), member, streams_[member].rank, group.is_local);
    }
    group.arrived.clear();
  }

  void link(std::uint32_t from, std::uint32_t to) {
    if (options_.spans) flows_.push_back({from, to});
  }

  void note(StreamState& s, const Instruction& instruction) {
    const std::int32_t first_step =
        s.section == 0 ? 0 : (s.section == 1 ? s.repetition : repetitions_) * program_.body_steps;
    Span span;
    span.track = static_cast<std::uint32_t>(&s - streams_.data());
    span.step = first_step + instruction.key.step;
    span.start = s.start;
    span.end = now_;
    span.key = instruction.key;
    if (is_transfer(instruction.key.op)) span.edge = EdgeId(instruction.target);
    if (options_.spans) {
      spans_[s.next_span++] = span;
    } else if (s.number == 0) {
      // Of each step the first, and the last so far.
      std::vector<Span>& kept = kept_[s.rank];
      const std::size_t n = kept.size();
      if (n >= 2 && kept[n - 1].step == span.step && kept[n - 2].step == span.step) {
        kept.back() = span;
      } else {
        kept.push_back(span);
      }
    }
  }

  // The rank's memory is at `level` from now on.
  void hold(std::uint32_t rank, Bytes level) {
    if (!options_.memory_counters) return;
    std::vector<CounterPoint>& points = points_[rank];
    if (!points.empty() && points.back().value == level.value) return;
    points.push_back({rank, now_, level.value});
  }

  Nanoseconds duration_of(const Instruction& instruction) const {
    return instruction.recipe < 0 ? Nanoseconds()
                                  : durations_[static_cast<std::size_t>(instruction.recipe)];
  }

  const Program& program_;
  const EngineOptions& options_;
  std::int32_t repetitions_ = 0;
  std::vector<Nanoseconds> durations_;  // one a recipe
  std::vector<StreamState> streams_;    // of all ranks, those of a rank one after the other
  std::vector<EdgeState> edges_;
  std::vector<GroupState> groups_;
  std::vector<std::uint32_t> ready_;  // streams that can go on at this time
  EventQueue queue_;                  // subjects: streams whose current instruction ends
  std::optional<HostSharing> sharing_;  // where the program has contention; its events follow the streams'
  Nanoseconds now_;
  std::vector<LiveMemory> memory_;  // one a rank; empty if the program has no buffers
  std::vector<Span> spans_;
  std::vector<std::vector<Span>> kept_;  // one a rank, without spans
  std::vector<Flow> flows_;
  std::vector<std::vector<CounterPoint>> points_;  // one a rank
};

Result<void> Engine::prepare() {
  PENSTOCK_CHECK(options_.steps > 0 && program_.body_steps > 0, "steps are counted from 1");
  const std::int64_t repetitions =
      (std::int64_t{options_.steps} + program_.body_steps - 1) / program_.body_steps;
  repetitions_ = static_cast<std::int32_t>(repetitions);
  if (repetitions * program_.body_steps > kMostSteps)
    return fail(ErrorCode::Infeasible,
                fmt::format("{} bodies of {} steps each are too many steps to number", repetitions,
                            program_.body_steps),
                fmt::format("at most {} are simulated", kMostSteps));
  for (const Recipe& recipe : program_.recipes) durations_.push_back(recipe.duration());
  edges_.resize(program_.edges.size());
  for (const Group& group : program_.groups)
    groups_.emplace_back().callers.assign(group.ranks.size(), kNoStream);
  std::uint64_t spans = 0;
  double length = 0;  // of all that is run, one after the other, in ns: it never takes longer
  for (std::size_t r = 0; r < program_.ranks.size(); ++r) {
    const std::vector<Stream>& streams = program_.ranks[r].streams;
    for (std::size_t k = 0; k < streams.size(); ++k) {
      StreamState& s = streams_.emplace_back();
      s.sections = {&streams[k].prologue, &streams[k].body, &streams[k].epilogue};
      s.rank = static_cast<std::uint32_t>(r);
      s.number = static_cast<std::uint32_t>(k);
      s.next_span = static_cast<std::uint32_t>(spans);
      for (std::size_t section = 0; section < 3; ++section) {
        std::uint64_t lasting = 0;
        for (const Instruction& instruction : *s.sections[section]) {
          PENSTOCK_TRY_VOID(examine(program_, instruction, static_cast<std::uint32_t>(streams_.size() - 1), streams_, edges_, groups_));
          PENSTOCK_CHECK(instruction.after_stream < static_cast<std::int32_t>(streams.size()),
                         "an instruction waits for no stream of its rank");
          lasting += instruction.key.op != Op::Wait;
          if (instruction.key.op != Op::Recv && instruction.key.op != Op::Wait)
            length += static_cast<double>(duration_of(instruction).value) *
                      (section == 1 ? repetitions_ : 1);
        }
        spans += lasting * (section == 1 ? static_cast<std::uint64_t>(repetitions_) : 1);
      }
    }
  }
  if (program_.contention && options_.contention) {
    sharing_.emplace(program_, queue_, static_cast<std::uint32_t>(streams_.size()));
    length *= sharing_->most_slowdown();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::vector<RankId>& ranks = program_.groups[g].ranks;
      groups_[g].is_local = std::all_of(ranks.begin(), ranks.end(), [&](RankId rank) {
        return sharing_->share(rank.index(), ranks.front().index());
      });
    }
  }
  PENSTOCK_TRY_VOID(expect_bounded(length, options_.steps));
  if (!options_.spans)  // the first and the last of each step
    spans = 2 * program_.ranks.size() * static_cast<std::uint64_t>(repetitions_) *
            static_cast<std::uint64_t>(program_.body_steps);
  if (spans > kMostSpans)
    return fail(ErrorCode::Infeasible,
                fmt::format("{} steps are {} spans, at most {} fit", options_.steps, spans,
                            kMostSpans),
                "simulate fewer steps");
  if (options_.spans) {
    spans_.resize(spans);
    flows_.reserve(spans / 3);
  } else {
    kept_.resize(program_.ranks.size());
  }
  points_.resize(program_.ranks.size());
  for (std::size_t r = 0; r < program_.ranks.size() && !program_.buffers.empty(); ++r)
    memory_.push_back(live_memory(program_, RankId(static_cast<std::int64_t>(r))));
  ready_.reserve(streams_.size());
  queue_.reserve(streams_.size());
  return {};
}

EngineResult Engine::report() {
  EngineResult result;
  Timeline& timeline = result.timeline;
  timeline.name = program_.name;
  timeline.ranks = static_cast<std::int32_t>(program_.ranks.size());
  // The first step fills the pipeline.
  timeline.warmup_steps = std::int64_t{repetitions_} * program_.body_steps > 1 ? 1 : 0;
  for (const StreamState& s : streams_) {
    timeline.tracks.push_back({RankId(s.rank), lane_of(program_, s.rank, s.number)});
    result.instructions += static_cast<std::int64_t>(s.done);
  }
  timeline.spans = std::move(spans_);
  for (const std::vector<Span>& kept : kept_)
    timeline.spans.insert(timeline.spans.end(), kept.begin(), kept.end());
  std::sort(flows_.begin(), flows_.end(),
            [](const Flow& a, const Flow& b) { return a.from < b.from; });
  timeline.flows = std::move(flows_);
  timeline.peak_memory = program_.arena;
  for (std::uint32_t r = 0; r < memory_.size(); ++r) {
    timeline.live_peak.push_back(memory_[r].peak);
    if (!options_.memory_counters) continue;
    timeline.counters.push_back({RankId(r), "memory", "B"});
    timeline.points.insert(timeline.points.end(), points_[r].begin(), points_[r].end());
  }
  result.events = static_cast<std::int64_t>(queue_.pushed());
  return result;
}

}  // namespace

Result<EngineResult> simulate(const Program& program, const EngineOptions& options) {
  return Engine(program, options).run();
}

}  // namespace penstock
