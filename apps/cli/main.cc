// qkv: reads the command line, hands over to one subcommand, and turns what it throws into a line and an exit code.
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "commands.h"
#include "find_command.h"
#include "misuse.h"
#include "output.h"
#include "qkv/error.h"
#include "qkv/info.h"

namespace qkv::cli {
namespace {

// An empty value is a slip of the shell, such as a variable that is not set; an option that may stand alone has one
// too.
void require_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    const bool wants_value = option->nonpositional() && option->get_expected_min() > 0;
    const bool empty = wants_value && std::find(values.begin(), values.end(), "") != values.end();
    if (empty) misuse(option->get_name(), "a value", "an empty text");
  }
}

void add_commands(CLI::App& app) {
  add_attend(app);
  add_bench(app);
  add_check(app);
  add_cost(app);
  add_explain(app);
  add_mask(app);
  add_probe(app);
  add_task(app);
  add_info(app);
  add_help(app);
  for (CLI::App* command : app.get_subcommands({})) {
    command->parse_complete_callback([command] { require_values(*command); });
    for (CLI::App* nested : command->get_subcommands({})) {
      nested->parse_complete_callback([nested] { require_values(*nested); });
    }
  }
}

void describe(CLI::App& app) {
  app.name("qkv");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "qkv " + std::string(build_info().version), "Print the version");
  app.set_help_flag("-h,--help", "Print how to use qkv");
  app.footer(
      "`qkv COMMAND --help` explains a command and shows an example.\n"
      "Exit codes: 0 done, 1 it failed (or: the files differ), 2 the request has no meaning.");
  app.get_formatter()->column_width(32);
}

std::string name_of_running(const CLI::App& app) {
  const auto running = app.get_subcommands();
  return running.empty() ? "qkv" : "qkv " + running.front()->get_name();
}

void parse_and_run(CLI::App& app, int argc, char** argv) {
  // CLI11 would call an unknown command an unexpected argument.
  if (argc > 1 && argv[1][0] != '-') static_cast<void>(find_command(app, argv[1]));
  try {
    app.parse(argc, argv);
    if (argc < 2) print(app.help());
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  }
}

int report(const CLI::App& app, std::string_view message, int code) {
  // A function of the library that is called as the command says its name, too.
  const std::string name = name_of_running(app);
  const std::string prefix = name.substr(name.find(' ') + 1) + ": ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  complain(name, message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("qkv: exact attention that shows its work");
  try {
    describe(app);
    add_commands(app);
    parse_and_run(app, argc, argv);
    flush_output();
    return kSuccess;
  } catch (const Exit& exit) {
    flush_output();
    return exit.code;
  } catch (const CLI::ParseError& error) {
    return report(app, error.what(), kMisuse);
  } catch (const InvalidArgument& error) {
    return report(app, error.what(), kMisuse);
  } catch (const std::bad_alloc&) {
    return report(app, "not enough memory for these shapes", kFailure);
  } catch (const std::exception& error) {
    return report(app, error.what(), kFailure);
  }
}

}  // namespace
}  // namespace qkv::cli

int main(int argc, char** argv) {
  // A reader that closes its end (`qkv … | head`) shall not end the command before its files are written.
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  try {
    return qkv::cli::run(argc, argv);
  } catch (const std::exception& error) {  // standard output failed while a command was leaving
    qkv::cli::complain("qkv", error.what());
    return qkv::cli::kFailure;
  }
}
