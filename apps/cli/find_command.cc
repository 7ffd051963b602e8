#include "find_command.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "qkv/nearest_word.h"

namespace qkv::cli {

const CLI::App& find_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string_view> names;  // into the commands' own names
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  const auto nearest = nearest_word(name, names);
  const bool top = app.get_parent() == nullptr;
  const std::string family = top ? "" : app.get_name() + " ";
  const std::string hint = nearest ? "; did you mean `" + family + std::string(*nearest) + "`?"
                           : top   ? "; `qkv help` lists them"
                                   : "; `qkv help " + app.get_name() + "` lists them";
  throw CLI::ParseError("there is no command `" + family + name + "`" + hint, CLI::ExitCodes::ExtrasError);
}

}  // namespace qkv::cli
