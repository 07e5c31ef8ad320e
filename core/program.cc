#include "core/program.h"

namespace penstock {
namespace {

template <class T>
std::size_t held(const std::vector<T>& items) {
  return items.capacity() * sizeof(T);
}

std::size_t held(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1
                                                    : 0;  // short ones lie in the object
}

}  // namespace

Nanoseconds Recipe::duration() const {
  Nanoseconds sum;
  for (const Segment& segment : segments) sum += segment.duration;
  return sum;
}

std::size_t Program::instruction_count() const {
  std::size_t count = 0;
  for (const RankProgram& rank : ranks)
    for (const Stream& stream : rank.streams)
      count += stream.prologue.size() + stream.body.size() + stream.epilogue.size();
  return count;
}

std::size_t Program::resident_bytes() const {
  std::size_t bytes = held(name) + held(ranks) + held(recipes) + held(edges) + held(groups) +
                      held(stores) + held(buffers) + held(first_buffer) + held(arena) +
                      held(live_peak);
  for (const RankProgram& rank : ranks) {
    bytes += held(rank.streams);
    for (const Stream& stream : rank.streams)
      bytes += held(stream.prologue) + held(stream.body) + held(stream.epilogue);
  }
  for (const Recipe& recipe : recipes) bytes += held(recipe.name) + held(recipe.segments);
  for (const ProgramEdge& edge : edges) bytes += held(edge.tensors);
  for (const Group& group : groups) bytes += held(group.ranks);
  for (const ProgramStore& store : stores) {
    bytes += held(store.name) + held(store.accumulation.copies);
    for (const std::vector<std::int32_t>& copy : store.accumulation.copies) bytes += held(copy);
  }
  return bytes;
}

}  // namespace penstock
