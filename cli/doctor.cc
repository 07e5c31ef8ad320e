#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/verbs.h"
#include "core/version.h"
#include "exec/backend.h"
#include "models/clusters/host_info.h"
#include "profiler/profiler.h"

namespace penstock::cli {
namespace {

enum class State : std::uint8_t { Ok, Off };

// One thing that Penstock uses, or could use if it were there.
struct Finding {
  std::string name;
  State state = State::Off;
  std::string found;       // what is there, or what its absence turns off
  std::string how_to_get;  // "" where it is there
};

// The first folder of PATH that has it, or "".
std::string program_on_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  const std::string_view all = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(':', at), all.size());
    const std::string file = fmt::format("{}/{}", all.substr(at, end - at), name);
    if (end > at && access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return "";
}

bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

Finding backend(const std::string& name, const std::string& detail, const std::string& remedy) {
  const auto there = open_backend(name);
  if (there) return {fmt::format("{} backend", name), State::Ok, detail, ""};
  return {fmt::format("{} backend", name), State::Off, "not built: run needs --backend cpu", remedy};
}

Finding library(std::string name, const char* file, std::string without, std::string remedy) {
  if (can_load(file)) return {std::move(name), State::Ok, fmt::format("{} can be loaded", file), ""};
  return {std::move(name), State::Off, "not found: " + std::move(without), std::move(remedy)};
}

Finding program(std::string name, std::initializer_list<std::string_view> files,
                std::string without, std::string remedy) {
  for (const std::string_view file : files) {
    const std::string found = program_on_path(file);
    if (!found.empty()) return {std::move(name), State::Ok, found, ""};
  }
  return {std::move(name), State::Off, "not found: " + std::move(without), std::move(remedy)};
}

Finding recorded_data() {
  const char* folder = std::getenv("PENSTOCK_DATA");
  struct stat status = {};
  if (folder != nullptr && ::stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
    return {"recorded data", State::Ok, folder, ""};
  return {"recorded data", State::Off,
          folder == nullptr ? "PENSTOCK_DATA is not set: tests that need recorded files skip"
                            : fmt::format("PENSTOCK_DATA names {}, which is no folder", folder),
          "only for tests: set PENSTOCK_DATA to the folder that holds the files"};
}

std::vector<Finding> examine(const Fingerprint& machine) {
  return {
      backend("cpu", fmt::format("{} cores, {}", machine.cores, machine.instruction_set), ""),
      backend("cuda", "the plug-in is there",
              "build where the CUDA Toolkit, NCCL and cuDNN are installed"),
      library("CUDA driver", "libcuda.so.1", "no GPU can be used here",
              "on a machine with a GPU: install NVIDIA's driver"),
      library("NCCL", "libnccl.so.2", "GPUs cannot exchange tensors",
              "NVIDIA's packages libnccl2 and libnccl-dev"),
      program("MPI", {"mpirun", "srun"}, "ranks stay in one process",
              "apt-get install openmpi-bin libopenmpi-dev, then build again"),
      program("browser", {"chromium", "google-chrome", "chrome"},
              "reports are not drawn in tests; any browser shows them",
              "only for tests of reports: apt-get install chromium"),
      recorded_data(),
  };
}

class DoctorVerb : public Verb {
 public:
  void declare(Flags&) override {}

  Result<Reply> run(const Shared&) override {
    const Fingerprint machine = identify_machine();
    Answer answer("penstock.doctor/1");
    answer.add("version", "penstock", version());
    answer.add("compiler", "compiler", compiler());
    answer.add("software", "software", machine.software);
    answer.add("cpu", "processor", machine.cpu);
    answer.add("instruction_set", "instruction set", machine.instruction_set);
    answer.add("cores", "cores", machine.cores);
    answer.add("memory_bytes", "memory", read_host_info().memory.value, Unit::Bytes);
    Table& table = answer.add_table("checks", "what is there",
                                    {{"name", "", {}, Align::Left},
                                     {"state", "", {}, Align::Left},
                                     {"found", "", {}, Align::Left},
                                     {"how_to_get", "how to get it", {}, Align::Left}});
    for (const Finding& finding : examine(machine)) {
      table.add({finding.name, finding.state == State::Ok ? "ok" : "off", finding.found,
                 finding.how_to_get.empty() ? Value() : Value(finding.how_to_get)});
    }
    answer.note(
        "weights digests compare on one instruction set: with the machines that say the same above");
    return Reply(answer);
  }
};

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "what this machine can do, what is off, and how to get it",
          .about =
              "Looks at this machine and this build: processor, memory, libraries, backends, and what "
              "is not there but\n"
              "could be. Changes nothing. Exits with 0 whatever it finds.",
          .document = "",
          .examples = {"penstock doctor", "penstock doctor --json"},
          .see_also = "version",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<DoctorVerb>()); }};
}

}  // namespace penstock::cli
