// A configuration file: the first byte chooses the verb, the rest is the file. What it sets is written as a table of that
// verb and reads back equal; then the verb's flags take it, or refuse it in words.

#include "cli/arguments/config.h"
#include "cli/command.h"
#include "cli/flags.h"
#include "core/toml.h"
#include "core/value.h"
#include "tests/fuzz/fuzz.h"

namespace penstock::fuzz {
namespace {

void run(const cli::Command& command, std::string_view bytes) {
  static const ScratchFile file("config");
  file.write(bytes);
  const auto defaults = cli::read_config(file.path(), command.name);
  if (!defaults) return require_refusal(defaults.error());

  cli::Shared shared;
  cli::Flags flags;
  const std::unique_ptr<cli::Verb> verb = command.make();
  cli::declare_all(flags, command, *verb, shared);
  const bool help = true;
  const auto parsed = cli::parse_arguments(flags, {}, help, [&] { return Result<std::vector<cli::Default>>(*defaults); });
  if (!parsed) require_refusal(parsed.error());

  Value table = Value::empty_object();
  for (const cli::Default& set : *defaults) {
    const std::string key = set.flag.substr(2);
    if (table.find(key) != nullptr) continue;  // the first holds
    for (const cli::Flag& flag : flags.flags())
      if (flag.long_name() == set.flag) table.set(key, flag.value.empty() ? Value(set.text == "true") : Value(set.text));
  }
  Value document = Value::empty_object();
  document.set(command.name, table);
  const std::string toml = to_toml(document);
  file.write(toml);
  const auto again = cli::read_config(file.path(), command.name);
  require_value(again, "what is set reads back");
  require(again->size() == table.object().size(), "nothing is lost", toml);
  for (std::size_t i = 0; i < again->size(); ++i) {
    const auto& [key, value] = table.object()[i];
    const std::string expected = value.is_string() ? value.string() : value.boolean() ? "true" : "false";
    require((*again)[i].flag == "--" + key && (*again)[i].text == expected, "it reads back equal", toml);
  }
}

}  // namespace
}  // namespace penstock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto commands = penstock::cli::commands();
  penstock::fuzz::run(commands[data[0] % commands.size()], penstock::fuzz::text(data + 1, size - 1));
  return 0;
}
