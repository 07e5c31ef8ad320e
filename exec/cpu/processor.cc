#include "exec/cpu/processor.h"

#include <dnnl.h>
#include <fmt/core.h>
#include <sched.h>

#include <fstream>
#include <map>

namespace penstock::cpu {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::map<std::string, std::string> first;
  for (std::string line; std::getline(info, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    first.emplace(std::move(key), colon + 2 <= line.size() ? line.substr(colon + 2) : "");
  }
  if (!first.contains("model name")) return "unknown processor";
  return fmt::format("{} (family {}, model {}, stepping {})", first["model name"], first["cpu family"], first["model"],
                     first["stepping"]);
}

std::string instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    case dnnl_cpu_isa_avx512_mic: return "avx512_mic";
    case dnnl_cpu_isa_avx512_mic_4ops: return "avx512_mic_4ops";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
    default: return "generic";
  }
}

std::string kernel_libraries() {
  const dnnl_version_t* dnnl = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch);
}

std::vector<int> cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  std::vector<int> out;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) out.push_back(core);
  }
  return out;
}

int core_count() { return static_cast<int>(cores().size()); }

}  // namespace penstock::cpu
