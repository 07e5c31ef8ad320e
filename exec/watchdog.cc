#include "exec/watchdog.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

namespace penstock {
namespace {

struct Place {
  std::size_t rank, stream;
  auto operator<=>(const Place&) const = default;
};

const RankProgram& program_of(const Interpreter& rank) {
  return rank.setup().program->ranks[rank.setup().rank.index()];
}

// Of the group that a rank waits in: members that have not come to the same call, and where their calls are.
std::vector<Place> missing(const std::vector<std::unique_ptr<Interpreter>>& ranks, const Instruction& call, std::int32_t step) {
  std::vector<Place> out;
  const Group& group = ranks[0]->setup().program->groups[static_cast<std::size_t>(call.target)];
  for (const RankId rank : group.ranks) {
    const auto& streams = program_of(*ranks[rank.index()]).streams;
    const auto calls = std::find_if(streams.begin(), streams.end(), [&](const Stream& stream) {
      return std::any_of(stream.body.begin(), stream.body.end(),
                         [&](const Instruction& i) { return is_collective(i.key.op) && i.target == call.target; });
    });
    if (calls == streams.end()) out.push_back({rank.index(), 0});  // it has none at all
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const auto is_call = [&](const Instruction& i) { return is_collective(i.key.op) && i.target == call.target; };
      if (std::none_of(streams[s].body.begin(), streams[s].body.end(), is_call)) continue;
      const Activity activity = ranks[rank.index()]->activity(s);
      const Instruction* at = ranks[rank.index()]->instruction(s, activity.work);
      const bool is_there = activity.kind == ActivityKind::WaitingForPeer && at != nullptr && is_call(*at) &&
                            activity.work.step >= step;
      if (!is_there) out.push_back({rank.index(), s});
    }
  }
  return out;
}

// The stream that must move on before the one at `place` can; nothing if it is busy or idle itself.
std::optional<Place> blocker(const std::vector<std::unique_ptr<Interpreter>>& ranks, Place place, const Activity& activity) {
  const Interpreter& rank = *ranks[place.rank];
  const Instruction* instruction = rank.instruction(place.stream, activity.work);
  if (instruction == nullptr) return std::nullopt;
  if (activity.kind == ActivityKind::WaitingForEvent) {
    if (instruction->after_stream < 0) return std::nullopt;
    return Place{place.rank, static_cast<std::size_t>(instruction->after_stream)};
  }
  if (activity.kind == ActivityKind::WaitingForPeer && is_collective(instruction->key.op)) {
    const std::vector<Place> late = missing(ranks, *instruction, activity.work.step);
    return late.empty() ? std::nullopt : std::optional(late.front());
  }
  // What a stream does and for which instruction are read one after the other, and may be of two moments.
  const bool transfers = instruction->key.op == Op::Send || instruction->key.op == Op::Recv;
  if (activity.kind != ActivityKind::WaitingForPeer || !transfers) return std::nullopt;
  const ProgramEdge& edge = rank.setup().program->edges[static_cast<std::size_t>(instruction->target)];
  if (instruction->key.op == Op::Send) return Place{edge.destination.index(), 0};
  const auto& streams = program_of(*ranks[edge.source.index()]).streams;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (streams[s].kind == StreamKind::Send && streams[s].edge.value == instruction->target) {
      return Place{edge.source.index(), s};
    }
  }
  return std::nullopt;
}

std::string sentence(const Interpreter& rank, std::size_t stream, const Activity& activity, Nanoseconds now) {
  const Instruction* instruction = rank.instruction(stream, activity.work);
  const std::string who = fmt::format("rank {}", rank.setup().rank.value);
  if (activity.kind == ActivityKind::Idle || instruction == nullptr) return who + " has nothing to do there";
  const double since = seconds(now - activity.since);
  const std::string what = fmt::format("{} of step {}", text(*instruction), activity.work.step);
  switch (activity.kind) {
    case ActivityKind::Running: return fmt::format("{} runs {} for {:.1f} s", who, what, since);
    case ActivityKind::WaitingForEvent: return fmt::format("{} holds back {} for {:.1f} s", who, what, since);
    default: return fmt::format("{} waits at {} for {:.1f} s", who, what, since);
  }
}

}  // namespace

std::string wait_for_report(const std::vector<std::unique_ptr<Interpreter>>& ranks, Nanoseconds now) {
  // Start where somebody has waited longest.
  Place place{0, 0};
  Nanoseconds oldest = kForever;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t s = 0; s < program_of(*ranks[r]).streams.size(); ++s) {
      const Activity activity = ranks[r]->activity(s);
      if (activity.kind == ActivityKind::Idle || activity.since >= oldest) continue;
      oldest = activity.since;
      place = {r, s};
    }
  }
  std::string story;
  std::set<Place> seen;
  for (std::optional<Place> next = place; next;) {
    place = *next;
    const Activity activity = ranks[place.rank]->activity(place.stream);
    if (!story.empty()) story += "; ";
    story += sentence(*ranks[place.rank], place.stream, activity, now);
    if (!seen.insert(place).second) {
      story += " (a circle)";
      break;
    }
    next = blocker(ranks, place, activity);
    const Instruction* instruction = ranks[place.rank]->instruction(place.stream, activity.work);
    if (activity.kind != ActivityKind::WaitingForPeer || instruction == nullptr || !is_collective(instruction->key.op)) continue;
    std::string late;
    for (const Place& member : missing(ranks, *instruction, activity.work.step)) {
      late += fmt::format("{}{}", late.empty() ? "" : ", ", ranks[member.rank]->setup().rank.value);
    }
    story += fmt::format(" (group {}, missing ranks: {})", instruction->target, late);
  }
  return story;
}

Watchdog::Watchdog(const std::vector<std::unique_ptr<Interpreter>>& ranks, Nanoseconds deadline,
                   std::function<Nanoseconds()> clock, std::function<void()> poll)
    : ranks_(ranks), deadline_(deadline), clock_(std::move(clock)), poll_(std::move(poll)),
      thread_([this](std::stop_token stop) { watch(stop); }) {}

Watchdog::~Watchdog() = default;

void Watchdog::watch(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    poll_();
    const Nanoseconds now = clock_();
    for (const auto& rank : ranks_) {
      for (std::size_t s = 0; s < program_of(*rank).streams.size(); ++s) {
        const Activity activity = rank->activity(s);
        if (activity.kind == ActivityKind::Idle || now - activity.since < deadline_) continue;
        rank->setup().device->abort(
            Error{.code = ErrorCode::RunFailed, .message = "the run hangs: " + wait_for_report(ranks_, now),
                  .hint = "penstock check proves whether the program can finish; a longer --deadline lets a slow machine go on"});
        return;
      }
    }
  }
}

}  // namespace penstock
