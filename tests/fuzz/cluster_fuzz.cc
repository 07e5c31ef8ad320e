// A cluster, TOML or JSON: round trips in both forms; every pair of devices has a route.

#include <algorithm>

#include "core/formats/cluster_format.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(std::string_view bytes) {
  const Result<Cluster> cluster = read_cluster(bytes, "cluster");
  if (!cluster) return require_refusal(cluster.error());
  const std::string json = write_cluster(*cluster), toml = write_cluster_toml(*cluster);
  require(require_value(read_cluster(json, "c.json"), "written JSON reads back") == *cluster, "JSON reads back equal", json);
  require(require_value(read_cluster(toml, "c.toml"), "written TOML reads back") == *cluster, "TOML reads back equal", toml);
  const auto devices = static_cast<std::int64_t>(std::min<std::size_t>(cluster->devices.size(), 6));
  for (std::int64_t from = 0; from < devices; ++from) {
    for (std::int64_t to = 0; to < devices; ++to) {
      const auto path = route(*cluster, DeviceId(from), DeviceId(to));
      require(path.has_value(), "a valid cluster connects all devices");
      const Nanoseconds little = path->time(Bytes(1)), much = path->time(Bytes(std::int64_t{1} << 40));
      require(little.value >= 0 && little <= much && much <= kForever, "a message takes some time, a longer one no less");
    }
  }
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::fuzz::run(penstock::fuzz::text(data, size));
  return 0;
}
