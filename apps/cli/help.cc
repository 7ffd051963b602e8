#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "find_command.h"
#include "output.h"

namespace qkv::cli {

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "How to use qkv, or one of its commands")->group("About");
  command->footer("Examples:\n  qkv help attend\n  qkv help bench positions");
  const auto topic = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *topic, "The command to explain");
  command->callback([&app, topic] {
    // app.help() would describe the running command, which is this one.
    const CLI::App* subject = &app;
    std::string name = "qkv";
    for (const std::string& word : *topic) {
      subject = &find_command(*subject, word);
      name += " " + word;
    }
    print(app.get_formatter()->make_help(subject, name, CLI::AppFormatMode::Normal));
  });
}

}  // namespace qkv::cli
