// qkv view: the studio in a browser.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "browser.h"
#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/train/trained_model.h"
#include "qkv/view/studio.h"
#include "server/access.h"
#include "server/pages.h"
#include "server/studio_server.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr std::string_view kCommand = "qkv view";

struct ViewArguments {
  StudioOptions studio;
  std::string host = "127.0.0.1";
  int port = 0;
  bool stays_closed = false;
  bool describes = false;
};

void require_pages() {
  const std::string why(studio::why_without_pages());
  if (why.empty()) return;
  throw Error("this qkv has no studio: " + why +
              ". To have it, install nodejs (18 or newer) and npm, and build it again with -D QKV_STUDIO=ON");
}

void require_model(const std::string& model) {
  try {
    if (std::filesystem::exists(trained_model_path(model))) return;
  } catch (const Error& error) {
    refuse("MODEL", error.what());
  }
  misuse("MODEL", "a model of the box, a file or a folder", "\"" + model + "\", which is not there");
}

void require_file(const std::string& file) {
  try {
    require_readable(file);
  } catch (const Error& error) {
    refuse("--file", error.what());
  }
}

void check(const StudioOptions& options) {
  if (!options.model.empty()) require_model(options.model);
  if (!options.file.empty()) require_file(options.file);
  if (!options.mask.empty()) static_cast<void>(parse_mask(options.mask));
}

void wait_for_interrupt() {
  constexpr int kMilliseconds = 100;  // where another thread took the signal
  while (!InterruptWatch::interrupted()) ::poll(nullptr, 0, kMilliseconds);
}

void serve(const ViewArguments& arguments) {
  Studio studio(arguments.studio);
  const auto ask = [&studio](std::string_view name, std::string_view request, const StudioWatch& watch) {
    return studio.ask(name, request, watch);
  };
  studio::StudioServer server(ask, studio::built_pages(), {.host = arguments.host, .port = arguments.port});
  if (!studio::is_loopback(arguments.host)) {
    complain(kCommand, "careful: other machines reach this too. Whoever has the address reads the files that you can.");
  }
  const InterruptWatch watch;
  server.start();
  print(server.url() + "\n");
  flush_output();
  if (::isatty(STDERR_FILENO) == 1) complain(kCommand, "Ctrl-C ends it");
  if (!arguments.stays_closed) open_in_browser(server.url());
  wait_for_interrupt();
  server.stop();
}

void run_view(const ViewArguments& arguments) {
  if (arguments.describes) return print(studio_as_json());
  check(arguments.studio);
  require_pages();
  serve(arguments);
}

}  // namespace

void add_view(CLI::App& app) {
  CLI::App* command = app.add_subcommand("view", "The studio: attention in the browser, under your hand");
  command->group("Learn");
  command->footer(
      "Prints the address, which nobody guesses, and serves it until Ctrl-C.\n"
      "Examples:\n  qkv view\n  qkv view induction --text abcxyzab\n  qkv view --mask \"causal & window(512)\"");
  const auto arguments = std::make_shared<ViewArguments>();
  command->add_option("MODEL", arguments->studio.model, "A model of the box, a file of qkv's, or a folder of others");
  command->add_option("--text", arguments->studio.text, "What it reads first")->type_name("TEXT");
  command->add_option("--file", arguments->studio.file, "A long text, for the page Far")->type_name("FILE");
  command->add_option("--mask", arguments->studio.mask, "A mask to look at first")->type_name("EXPR");
  command->add_option("--host", arguments->host, "Address to listen at [127.0.0.1, for this machine alone]")
      ->type_name("HOST");
  command->add_option("--port", arguments->port, "Port to listen at [a free one]")
      ->type_name("N")
      ->check(between(0, 65535));
  command->add_flag("--no-open", arguments->stays_closed, "Open no browser");
  command->add_flag("--describe", arguments->describes,
                    "Print all questions of the studio, with their fields, as JSON");
  command->callback([arguments] { run_view(*arguments); });
}

}  // namespace qkv::cli
