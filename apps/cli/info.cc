// qkv info: what this copy is, and what the machine under it can do.
#include "qkv/view/info.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "output.h"
#include "terminal.h"

namespace qkv::cli {

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Version, build, and the CPU targets found and chosen");
  command->group("About");
  command->footer("Example:\n  QKV_FORCE_TARGET=reference qkv info");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json] { *json ? print(info_as_json()) : print_text(info_as_text(terminal_width())); });
}

}  // namespace qkv::cli
