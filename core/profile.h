#pragma once

// Measured costs: what each distinct layer takes on one kind of device, what handing a tensor to another rank takes, and
// on which machine and build that was seen. Protocol: median of many runs at several microbatch sizes, spread kept beside
// it, nothing dropped (docs/formats/profile.md).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contention.h"
#include "core/result.h"
#include "core/units.h"

namespace penstock {

// What is timed of a layer. BF = B and W one after the other, as a full backward runs them.
enum class CostOp : std::uint8_t { F, B, W, BF, Loss, Step, Load };
constexpr auto enum_names(CostOp) {
  return std::to_array<std::pair<CostOp, std::string_view>>(
      {{CostOp::F, "F"}, {CostOp::B, "B"}, {CostOp::W, "W"}, {CostOp::BF, "BF"},
       {CostOp::Loss, "LOSS"}, {CostOp::Step, "STEP"}, {CostOp::Load, "LOAD"}});
}

// A sample of durations.
struct Spread {
  std::int64_t n = 0;
  Nanoseconds min, p10, median, p90, mad;  // mad: median absolute deviation from the median

  bool operator==(const Spread&) const = default;
};

struct LayerTime {
  std::string signature;  // penstock::signature of the layer
  CostOp op = CostOp::F;
  std::int64_t microbatch = 1;  // samples; 0 for Step, which does not depend on it
  Spread time;

  bool operator==(const LayerTime&) const = default;
};

struct LayerMemory {
  std::string signature;
  std::int64_t microbatch = 1;
  Bytes parameters, saved, output, workspace;  // workspace: library scratch of one call, measured

  bool operator==(const LayerMemory&) const = default;
};

// A forward or backward of the whole network at once, beside the sum of its layers' medians.
struct StageTime {
  CostOp op = CostOp::F;  // F (with the loss) or BF
  std::int64_t microbatch = 1;
  Nanoseconds layers;  // the sum
  Spread time;

  double residual() const { return seconds(time.median) / seconds(layers) - 1; }
  bool operator==(const StageTime&) const = default;
};

// How a layer's time grows with the microbatch b: base + per_sample · b seconds, for b of [least, most]. Information:
// planning uses measured sizes alone.
struct LayerFit {
  std::string signature;
  CostOp op = CostOp::F;
  double base_s = 0, per_sample_s = 0;
  std::int64_t least = 1, most = 1;
  double worst_relative_error = 0;

  bool operator==(const LayerFit&) const = default;
};

// Whether the second rank sends to the first at the same time.
enum class Traffic : std::uint8_t { OneWay, BothWays };
constexpr auto enum_names(Traffic) {
  return std::to_array<std::pair<Traffic, std::string_view>>({{Traffic::OneWay, "one_way"}, {Traffic::BothWays, "both_ways"}});
}

// Hand-off of a message between two ranks, sender ready and receiver waiting.
struct LinkTime {
  std::string path;  // "thread": between two ranks of one process
  Bytes bytes;
  Spread time;
  Traffic traffic = Traffic::OneWay;
  std::int32_t pairs = 1;  // of ranks that do so at the same time, on cores of their own

  // Nothing else moves: what a link costs. All else says what traffic does to it.
  bool is_alone() const { return traffic == Traffic::OneWay && pairs == 1; }
  bool operator==(const LinkTime&) const = default;
};

// One class of work on a core, while the other is done on a second one of the same host.
struct ContentionTime {
  WorkClass work = WorkClass::Matrix, beside = WorkClass::Matrix;
  Bytes moved;          // by one round of the work, each operand counted once as it is read or written
  Spread alone, time;   // of one round, alone and beside the other
  double slowdown = 1;  // what planning uses: median over median, at least 1

  bool operator==(const ContentionTime&) const = default;
};

struct Fingerprint {
  std::string cpu;           // model name and family/model/stepping
  std::int64_t cores = 0;
  std::string instruction_set;  // what the kernels dispatch to: "avx512", "avx2", …
  Bytes memory;
  std::string software;      // penstock version, compiler, library versions

  bool operator==(const Fingerprint&) const = default;
};

inline constexpr double kMostDrift = 0.05;
inline constexpr double kMostResidual = 0.05;  // of a stage against the sum of its layers, before a profile warns

struct Profile {
  std::string workload;              // name, for people
  std::string workload_fingerprint;  // penstock::fingerprint
  std::string device_kind;
  Fingerprint machine;
  double load_average = 0;           // when it was taken
  std::vector<LayerTime> times;
  std::vector<LayerMemory> memory;
  std::vector<LinkTime> links;
  std::vector<ContentionTime> contention;
  std::vector<StageTime> stages;
  std::vector<LayerFit> fits;
  std::optional<double> drift;       // at the end, of the first size's layers against the beginning: 0.05 is 5 % longer
  Bytes private_cache;               // of a core; 0: unknown
  std::vector<std::string> warnings;

  bool operator==(const Profile&) const = default;

  // Null where there is no such row. O(rows).
  const LayerTime* find(const std::string& signature, CostOp op, std::int64_t microbatch) const;
  const LayerMemory* find_memory(const std::string& signature, std::int64_t microbatch) const;
  // The rows of `links` of one path whose message has the link for itself.
  std::vector<LinkTime> links_alone(std::string_view path) const;
  // Whether it drifted by no more than kMostDrift. True where that was not looked at.
  bool is_stable() const;
  // The measured slowdowns as one matrix, 1 where none was measured; cores stay 0.
  Contention contention_of_host() const;
};

// α and β of the hand-off, by least relative squares over the measured sizes: min Σ ((α + x/β − t)/t)² with α ≥ 0, t the
// medians. One size alone is put down to bandwidth; times that do not grow with size to latency, β then so large that no
// measured message takes a nanosecond more. `times` must not be empty (PENSTOCK_CHECK); all are taken as of one path.
struct LinkFit {
  Nanoseconds latency;
  BytesPerSecond bandwidth;
  double worst_relative_error = 0;
};
LinkFit fit_link(const std::vector<LinkTime>& times);

}  // namespace penstock
