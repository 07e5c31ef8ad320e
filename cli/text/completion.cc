#include "cli/text/completion_scripts.h"

#include "cli/flags.h"
#include "cli/verbs.h"

namespace penstock::cli {
namespace {

class CompletionVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.input("SHELL", "bash, zsh or fish", shell_);
    flags.offer(choice_into(chosen_).choices());
  }

  Result<Reply> run(const Shared&) override {
    PENSTOCK_TRY_VOID(choice_into(chosen_)("SHELL", shell_));
    Answer answer("penstock.completion/1");
    answer.add("shell", "shell", shell_);
    answer.add("script", "script", completion_script(chosen_, commands()));
    Reply reply(answer);
    reply.text = completion_script(chosen_, commands());
    return reply;
  }

 private:
  std::string shell_;
  Shell chosen_ = Shell::Bash;
};

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "print what makes a shell complete penstock's commands",
          .about =
              "Prints a script that completes verbs, flags, and the names of schedules, workloads, "
              "clusters and files.\n"
              "In bash: eval \"$(penstock completion bash)\". What is installed by a package does so "
              "already.",
          .document = "",
          .examples = {"penstock completion bash", "penstock completion fish -o penstock.fish"},
          .see_also = "",
          .make = [] { return std::unique_ptr<Verb>(std::make_unique<CompletionVerb>()); }};
}

}  // namespace penstock::cli
