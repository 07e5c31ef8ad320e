#include "cli/text/completion_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/flags.h"
#include "models/clusters/clusters.h"
#include "models/workloads/builders.h"
#include "planner/schedules/schedule.h"
#include "planner/strategies.h"

namespace penstock::cli {
namespace {

// What may stand in one place.
struct Words {
  std::vector<std::string> words;
  bool files = false;

  void add(const Words& more) {
    words.insert(words.end(), more.words.begin(), more.words.end());
    files = files || more.files;
  }
  std::string joined() const { return fmt::format("{}", fmt::join(words, " ")); }
};

template <class Items>
Words names_of(const Items& items, bool files) {
  Words out{.words = {}, .files = files};
  for (const auto& item : items) out.words.emplace_back(item.name);
  return out;
}

// By what --help calls the value. What is called otherwise is a number, or a name of the user's own.
Words words_for(std::string_view value) {
  if (value == "WORKLOAD") return names_of(workload_builders(), true);
  if (value == "CLUSTER") return names_of(cluster_forms(), true);
  if (value == "INPUT") return names_of(schedules(), true);
  for (const std::string_view file : {"FILE", "PATH", "PLAN", "PREDICTED", "MEASURED", "TRACE"}) {
    if (value.substr(0, file.size()) == file) return {.words = {}, .files = true};
  }
  return {};
}

struct FlagWords {
  std::string short_name, long_name;  // without dashes; "" for none
  std::string about;
  bool has_value = false;
  Words values;
};

struct VerbWords {
  std::string name, summary;
  std::vector<FlagWords> flags;
  Words inputs;

  std::string flag_names() const {
    std::string out;
    for (const FlagWords& flag : flags) out += (out.empty() ? "--" : " --") + flag.long_name;
    return out;
  }
};

FlagWords words_of(const Flag& flag) {
  FlagWords out{.short_name = "",
                .long_name = std::string(flag.long_name().substr(2)),
                .about = flag.about,
                .has_value = !flag.value.empty(),
                .values = words_for(flag.value)};
  if (flag.names[1] != '-') out.short_name = flag.names.substr(1, 1);
  if (!flag.set.choices().empty()) out.values.words = flag.set.choices();
  if (out.long_name == "schedule") out.values = names_of(schedules(), false);
  if (out.long_name == "strategy") out.values = names_of(strategies(), false);
  return out;
}

std::vector<VerbWords> words_of(std::span<const Command> all) {
  std::vector<VerbWords> out;
  for (const Command& command : all) {
    Shared shared;
    Flags flags;
    const std::unique_ptr<Verb> verb = command.make();
    declare_all(flags, command, *verb, shared);
    VerbWords words{.name = std::string(command.name),
                    .summary = std::string(command.summary),
                    .flags = {},
                    .inputs = {}};
    for (const Flag& flag : flags.flags()) words.flags.push_back(words_of(flag));
    for (const Input& input : flags.inputs()) {
      Words here = words_for(input.name);
      if (!input.choices.empty()) here = {.words = input.choices, .files = false};
      words.inputs.add(here);
    }
    out.push_back(std::move(words));
  }
  return out;
}

// In single quotes of any of the three shells; texts of ours hold no backslash.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string verb_names(const std::vector<VerbWords>& verbs) {
  std::string out;
  for (const VerbWords& verb : verbs) out += (out.empty() ? "" : " ") + verb.name;
  return out;
}

std::string names_for_case(const FlagWords& flag) {
  return flag.short_name.empty() ? "--" + flag.long_name
                                 : fmt::format("-{}|--{}", flag.short_name, flag.long_name);
}

std::string bash_script(const std::vector<VerbWords>& verbs) {
  std::string out = fmt::format(
      "# bash completion of penstock. To have it: eval \"$(penstock completion bash)\"\n"
      "_penstock_offer() {{\n"  // WORDS [files]
      "  COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
      "  if [[ -n $2 ]]; then\n"
      "    local file\n"
      "    while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- \"$cur\")\n"
      "    compopt -o filenames 2>/dev/null\n"
      "  fi\n"
      "}}\n"
      "_penstock() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  # bash takes --flag=value for three words.\n"
      "  if [[ $cur == = ]]; then cur=\n"
      "  elif [[ $prev == = ]]; then prev=\"${{COMP_WORDS[COMP_CWORD-2]}}\"; fi\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then _penstock_offer '{0} help --help --version'; return; fi\n"
      "  local flags inputs files\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n"
      "    help) _penstock_offer '{0} --man'; return ;;\n",
      verb_names(verbs));
  for (const VerbWords& verb : verbs) {
    out += fmt::format("    {})\n      flags='{}' inputs='{}' files='{}'\n", verb.name,
                       verb.flag_names(), verb.inputs.joined(), verb.inputs.files ? "yes" : "");
    out += "      case \"$prev\" in\n";
    for (const FlagWords& flag : verb.flags) {
      if (flag.has_value)
        out += fmt::format("        {}) _penstock_offer '{}' {}; return ;;\n", names_for_case(flag),
                           flag.values.joined(), flag.values.files ? "files" : "''");
    }
    out += "      esac ;;\n";
  }
  return out +
         "    *) return ;;\n"
         "  esac\n"
         "  if [[ $cur == -* ]]; then _penstock_offer \"$flags\"; else _penstock_offer \"$inputs\" "
         "\"$files\"; fi\n"
         "}\n"
         "complete -F _penstock penstock\n";
}

std::string zsh_offer(const Words& words) {
  std::string out;
  if (!words.words.empty()) out += fmt::format("compadd -- {}; ", words.joined());
  return out + (words.files ? "_files; " : "");
}

std::string zsh_script(const std::vector<VerbWords>& verbs) {
  std::string out =
      "#compdef penstock\n"
      "# zsh completion of penstock. To have it: penstock completion zsh >DIR/_penstock, with DIR in "
      "$fpath,\n# or eval \"$(penstock completion zsh)\" after compinit.\n"
      "_penstock() {\n"
      "  local cur=$words[CURRENT] prev=$words[CURRENT-1]\n"
      "  local -a verbs\n  verbs=(\n";
  for (const VerbWords& verb : verbs)
    out += "    " + quoted(fmt::format("{}:{}", verb.name, verb.summary), "'\\''") + "\n";
  out +=
      "    'help:this list, or the help of a verb'\n"
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
      "  case $words[2] in\n"
      "    help) _describe verb verbs ;;\n";
  for (const VerbWords& verb : verbs) {
    out += fmt::format("    {})\n      case $prev in\n", verb.name);
    for (const FlagWords& flag : verb.flags) {
      if (flag.has_value)
        out += fmt::format("        {}) {}return ;;\n", names_for_case(flag), zsh_offer(flag.values));
    }
    out += fmt::format(
        "      esac\n      if [[ $cur == -* ]]; then compadd -- {}; else {}true; fi ;;\n",
        verb.flag_names(), zsh_offer(verb.inputs));
  }
  return out +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _penstock ]]; then _penstock \"$@\"; else compdef _penstock "
         "penstock; fi\n";
}

std::string fish_script(const std::vector<VerbWords>& verbs) {
  std::string out =
      "# fish completion of penstock. To have it: penstock completion fish "
      ">~/.config/fish/completions/penstock.fish\n"
      "complete -c penstock -f\n";
  for (const VerbWords& verb : verbs)
    out += fmt::format("complete -c penstock -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       quoted(verb.summary, "\\'"));
  for (const VerbWords& verb : verbs) {
    const std::string start =
        fmt::format("complete -c penstock -n '__fish_seen_subcommand_from {}'", verb.name);
    if (!verb.inputs.words.empty()) out += fmt::format("{} -a '{}'\n", start, verb.inputs.joined());
    if (verb.inputs.files) out += start + " -F\n";
    for (const FlagWords& flag : verb.flags) {
      out += start;
      if (!flag.short_name.empty()) out += " -s " + flag.short_name;
      out += " -l " + flag.long_name;
      if (flag.has_value) out += " -r";
      if (flag.values.files) out += " -F";
      if (!flag.values.words.empty()) out += fmt::format(" -a '{}'", flag.values.joined());
      out += fmt::format(" -d {}\n", quoted(flag.about, "\\'"));
    }
  }
  return out;
}

}  // namespace

std::string completion_script(Shell shell, std::span<const Command> all) {
  const std::vector<VerbWords> verbs = words_of(all);
  switch (shell) {
    case Shell::Bash:
      return bash_script(verbs);
    case Shell::Zsh:
      return zsh_script(verbs);
    case Shell::Fish:
      return fish_script(verbs);
  }
  return "";
}

}  // namespace penstock::cli
