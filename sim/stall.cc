#include "sim/stall.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace penstock {

Error stall(const Program& program, std::span<const StreamState> streams,
            std::span<const EdgeState> edges, std::span<const GroupState> groups,
            std::uint32_t stream, Nanoseconds now) {
  std::vector<std::string> story;
  std::vector<bool> is_told(streams.size(), false);
  while (!is_told[stream]) {
    is_told[stream] = true;
    const StreamState& s = streams[stream];
    const Instruction& instruction = s.current();
    std::uint32_t other = stream - s.number + static_cast<std::uint32_t>(instruction.after_stream);
    std::string what;
    if (instruction.after_stream >= 0 && streams[other].done < s.waits_until) {
      what = fmt::format("instruction {} of stream {}", instruction.after_index,
                         instruction.after_stream);
    } else if (is_collective(instruction.key.op)) {
      const auto target = static_cast<std::size_t>(instruction.target);
      const GroupState& group = groups[target];
      std::vector<std::int32_t> missing;
      for (std::size_t m = group.callers.size(); m-- > 0;) {
        if (std::find(group.arrived.begin(), group.arrived.end(), group.callers[m]) !=
            group.arrived.end())
          continue;
        missing.insert(missing.begin(), program.groups[target].ranks[m].value);
        other = group.callers[m];
      }
      what = fmt::format("group {}, which rank{} {} {} not reached", instruction.target,
                         missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
                         missing.size() == 1 ? "has" : "have");
    } else {
      const EdgeState& edge = edges[static_cast<std::size_t>(instruction.target)];
      const bool is_send = instruction.key.op == Op::Send;
      other = is_send ? edge.receiver : edge.sender;
      what = fmt::format("the {} of edge {}", is_send ? "RECV" : "SEND", instruction.target);
    }
    story.push_back(fmt::format("rank {} stream {} at {} waits for {}", s.rank, s.number,
                                text(instruction), what));
    if (other == kNoStream || streams[other].finished()) {
      story.back() += ", which never comes";
      break;
    }
    stream = other;
  }
  return {
      .code = ErrorCode::Infeasible,
      .message = fmt::format("the program stops at {} ns: {}", now.value, fmt::join(story, "; ")),
      .hint = "penstock check names the rule that the program breaks"};
}

}  // namespace penstock
