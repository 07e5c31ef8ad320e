#include "models/clusters/host_info.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace penstock {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

// What follows "key :" on its first line in a file of such lines.
std::string field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || trim(std::string_view(line).substr(0, colon)) != key)
      continue;
    return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

std::string cpu_name(const std::string& path) {
  const std::string name = field(path, "model name");
  if (name.empty()) return "unknown";
  return fmt::format("{}, family {} model {} stepping {}", name, field(path, "cpu family"),
                     field(path, "model"), field(path, "stepping"));
}

std::int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max<std::int64_t>(1,
                                sysconf(_SC_NPROCESSORS_ONLN));  // more cores than the mask holds
}

Bytes usable_memory(const std::string& root) {
  std::int64_t bytes = leading_number(field(root + "/proc/meminfo", "MemTotal")).value_or(0) * 1024;
  if (bytes == 0) bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream limit(root + "/sys/fs/cgroup/memory.max");
  std::string text;
  if (std::getline(limit, text)) {  // "max" where there is none
    if (const auto value = leading_number(text); value && *value > 0)
      bytes = std::min(bytes, *value);
  }
  return Bytes(std::max(bytes / kMiB, std::int64_t{1}) * kMiB);
}

}  // namespace

HostInfo read_host_info(const std::string& root) {
  return {cpu_name(root + "/proc/cpuinfo"), usable_cores(), usable_memory(root)};
}

}  // namespace penstock
