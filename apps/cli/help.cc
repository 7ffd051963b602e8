#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.h"
#include "find_command.h"
#include "output.h"

namespace qkv::cli {

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "How to use qkv, or one of its commands")->group("About");
  command->footer("Example:\n  qkv help attend");
  const auto topic = std::make_shared<std::string>();
  command->add_option("COMMAND", *topic, "The command to explain");
  command->callback([&app, topic] {
    // app.help() would describe the running command, which is this one.
    const CLI::App& subject = topic->empty() ? app : find_command(app, *topic);
    const std::string name = topic->empty() ? "qkv" : "qkv " + *topic;
    print(app.get_formatter()->make_help(&subject, name, CLI::AppFormatMode::Normal));
  });
}

}  // namespace qkv::cli
