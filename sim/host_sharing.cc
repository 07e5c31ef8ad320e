#include "sim/host_sharing.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace penstock {

HostSharing::HostSharing(const Program& program, EventQueue& queue, std::uint32_t first_subject)
    : program_(program), queue_(queue), first_subject_(first_subject) {
  PENSTOCK_CHECK(program.contention.has_value(), "a program that says how its ranks contend");
  // A rank of no known host is on one of its own.
  std::map<HostId, std::size_t> numbers;
  for (const RankProgram& rank : program.ranks) {
    std::size_t number = host_.size();
    if (rank.host.valid()) number = numbers.emplace(rank.host, number).first->second;
    if (number == host_.size()) host_.emplace_back();
    hosts_.push_back(number);
  }
}

double HostSharing::most_slowdown() const {
  double worst = 1;
  for (const auto& row : program_.contention->slowdown)
    for (const double factor : row) worst = std::max(worst, factor);
  std::size_t streams = 0;  // each has one work at a time
  for (const RankProgram& rank : program_.ranks) streams += rank.streams.size();
  const auto n = static_cast<double>(streams);
  const auto cores = static_cast<double>(program_.contention->cores);
  const double turns = cores > 0 && cores < n ? n / cores : 1;
  return turns * (1 + (n - 1) * (worst - 1));
}

bool HostSharing::enter(Work& work) const {
  const std::vector<Segment>& segments = program_.recipes[work.recipe].segments;
  while (work.segment < segments.size() && segments[work.segment].duration.value == 0)
    ++work.segment;
  if (work.segment == segments.size()) return false;
  const Segment& segment = segments[work.segment];
  const bool computes = segment.kind == SegmentKind::Compute;
  work.parts[static_cast<std::size_t>(WorkClass::Matrix)] = computes ? 1 - segment.memory_share : 0;
  work.parts[static_cast<std::size_t>(WorkClass::Memory)] = computes ? segment.memory_share : 0;
  work.parts[static_cast<std::size_t>(WorkClass::Copy)] = computes ? 0 : 1;
  work.left = static_cast<double>(segment.duration.value);
  return true;
}

void HostSharing::progress(Host& host, Nanoseconds now) const {
  const auto passed = static_cast<double>((now - host.last).value);
  for (Work& work : host.running) work.left -= passed * work.rate;
  host.last = now;
}

void HostSharing::set_rates(Host& host, std::size_t index) {
  if (host.running.empty()) return;
  const Contention& contention = *program_.contention;
  const auto n = static_cast<double>(host.running.size());
  const auto cores = contention.cores > 0 ? static_cast<double>(contention.cores) : n;
  const double share = std::min(1.0, cores / n);
  const double beside = share < 1 ? (cores - 1) / (n - 1) : 1;
  std::array<double, kWorkClasses> all{};  // of each class, the work itself included
  for (const Work& work : host.running)
    for (std::size_t d = 0; d < kWorkClasses; ++d) all[d] += work.parts[d];
  double first = 0;
  for (std::size_t i = 0; i < host.running.size(); ++i) {
    Work& work = host.running[i];
    double added = 0;
    for (std::size_t c = 0; c < kWorkClasses; ++c)
      for (std::size_t d = 0; d < kWorkClasses; ++d)
        added += work.parts[c] * (all[d] - work.parts[d]) * (contention.slowdown[c][d] - 1);
    work.rate = share / (1 + beside * added);
    const double lasts = (work.left - kDone) / work.rate;
    if (i == 0 || lasts < first) first = lasts;
  }
  host.next = host.last + Nanoseconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(first))));
  queue_.push(host.next, first_subject_ + static_cast<std::uint32_t>(index));
}

void HostSharing::begin(std::size_t rank, std::size_t recipe, std::uint32_t owner,
                        Nanoseconds now) {
  Host& host = host_[hosts_[rank]];
  progress(host, now);
  Work work{.owner = owner, .recipe = recipe};
  PENSTOCK_CHECK(enter(work), "work that takes time");
  host.running.push_back(work);
  set_rates(host, hosts_[rank]);
}

const std::vector<std::uint32_t>& HostSharing::end(const Event& event) {
  ended_.clear();
  const std::size_t index = event.subject - first_subject_;
  Host& host = host_[index];
  // An event that a later change has made void: others follow it.
  if (event.time != host.next || host.running.empty()) return ended_;
  progress(host, event.time);
  std::erase_if(host.running, [&](Work& work) {
    if (work.left > kDone) return false;
    ++work.segment;
    if (enter(work)) return false;
    ended_.push_back(work.owner);
    return true;
  });
  set_rates(host, index);
  return ended_;
}

}  // namespace penstock
