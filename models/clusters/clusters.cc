#include "models/clusters/clusters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/file.h"
#include "core/formats/cluster_format.h"

namespace penstock {
namespace {

constexpr std::array<ClusterForm, 3> kForms = {{
    {"this-machine", "this-machine",
     "CPU ranks of this machine, one a core (--ranks N: that many)"},
    {"flat", "flat:N,device=KIND,bandwidth=RATE,latency=TIME,memory=BYTES",
     "N devices, any two joined by one link"},
    {"nodes",
     "nodes:HxD,device=KIND,intra=RATE,inter=RATE,intra-latency=TIME,inter-latency=TIME,memory="
     "BYTES",
     "H hosts of D devices, joined within hosts and between them"},
}};

Result<Cluster> read_cluster_file(const std::string& path) {
  PENSTOCK_TRY(const Value document, read_document(path));
  return cluster_from(document, path == "-" ? "<stdin>" : path);
}

}  // namespace

std::span<const ClusterForm> cluster_forms() {
  return kForms;
}

Result<Cluster> load_cluster(const std::string& text, std::int32_t ranks) {
  const std::string name = text.substr(0, text.find(':'));
  if (text == "this-machine") return this_machine(ranks);
  if (name == "this-machine") {
    return fail(ErrorCode::Usage, "this-machine takes no parameters",
                "choose its ranks with --ranks");
  }
  if (name == "flat" || name == "nodes") return inline_cluster(text);
  std::error_code error;
  const bool is_file = text == "-" || std::filesystem::exists(text, error);
  // What looks like a path was meant as one.
  if (is_file ||
      (text.find_first_of("/.") != std::string::npos && text.find(':') == std::string::npos)) {
    return read_cluster_file(text);
  }
  std::vector<std::string_view> names;
  for (const ClusterForm& form : kForms) names.push_back(form.name);
  const std::string_view meant = nearest(name, names);
  const std::string all = fmt::format("write {}:…, or the path of a file", fmt::join(names, ", "));
  return fail(ErrorCode::Usage, fmt::format("\"{}\" is neither a cluster's form nor a file", text),
              meant.empty() ? all : fmt::format("did you mean {}? {}", meant, all));
}

}  // namespace penstock
