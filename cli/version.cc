#include "core/version.h"

#include "cli/flags.h"
#include "cli/verbs.h"
#include "profiler/profiler.h"

namespace penstock::cli {
namespace {

class VersionVerb : public Verb {
 public:
  void declare(Flags&) override {}

  Result<Reply> run(const Shared&) override {
    const Fingerprint machine = identify_machine();
    Answer answer("penstock.version/1");
    answer.add("version", "penstock", version());
    answer.add("compiler", "compiler", compiler());
    answer.add("software", "software", machine.software);
    answer.add("cpu", "processor", machine.cpu);
    answer.add("cores", "cores", machine.cores);
    Table& backends = answer.add_table("backends", "backends",
                                       {{"backend", "backend", {}, Align::Left},
                                        {"instruction_set", "instruction set", {}, Align::Left}});
    backends.add({"cpu", machine.instruction_set});
    return Reply(answer);
  }
};

}  // namespace

Command version_command() {
  return {.name = "version",
          .summary = "version, compiler, and what this build can run on",
          .about = "Says which Penstock this is, what built it, and on which backends it can run.",
          .document = "",
          .examples = {"penstock version", "penstock version --json"},
          .see_also = "",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<VersionVerb>()); }};
}

}  // namespace penstock::cli
